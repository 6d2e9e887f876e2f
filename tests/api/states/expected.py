"""What must become of proposals, told in a few lines that share nothing with the product."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

OPEN = ("pending", "changes_requested", "quarantined", "approved")
FINAL = ("executed", "rejected", "withdrawn", "expired", "succeeded", "failed")
COOL_DOWN = timedelta(minutes=15)


@dataclass
class Member:
    """A reviewer: since when, whether he may still sign in, and whether he is one now."""

    name: str
    since: datetime
    is_active: bool = True
    is_reviewer: bool = True


@dataclass
class Expected:
    """One proposal, as it must stand. `conflicts` are the names of those who may not approve it."""

    id: str
    tool: str
    needs: int
    arguments: str
    status: str
    submitted_at: datetime
    expires_at: datetime | None
    conflicts: set[str]
    revision: int = 1
    binding: str = ""
    approved_by: set[str] = field(default_factory=set)
    rejected_at: datetime | None = None
    permit: str | None = None
    is_spent: bool = False

    def meet(self, now: datetime) -> None:
        """Time only ever denies, and at the instant itself."""
        if self.status in OPEN and self.expires_at is not None and now >= self.expires_at:
            self.status = "expired"

    def may_decide(self, member: Member, verdict: str, binding: str, used: bool, now: datetime) -> bool:
        """Whether a form filled in for `binding` must be recorded; `used` says that one like it was before."""
        self.meet(now)
        waiting = (
            ("pending", "quarantined", "approved") if verdict == "reject" else ("pending", "quarantined")
        )
        if self.status not in waiting or not (member.is_active and member.is_reviewer):
            return False
        if binding != self.binding:
            return False
        if verdict == "request_changes":
            return self.status == "pending"
        if verdict == "reject":
            return True
        is_independent = member.name not in self.conflicts and member.since < self.submitted_at
        return is_independent and member.name not in self.approved_by

    def decided(self, name: str, verdict: str, now: datetime) -> None:
        """Take a recorded vote."""
        if verdict == "reject":
            self.status, self.rejected_at = "rejected", now
        elif verdict == "request_changes":
            self.status = "changes_requested"
            self.approved_by = set()
        else:
            self.approved_by.add(name)

    def revised(self, binding: str, arguments: str, now: datetime) -> None:
        """Other bytes: every vote is outdated."""
        self.revision, self.binding, self.arguments = self.revision + 1, binding, arguments
        self.status, self.submitted_at, self.approved_by = "pending", now, set()
