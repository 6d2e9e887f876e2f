"""Who an entry says acted. Made from a credential by `review.access.actors`, never from a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from huqan_site.lib.canonical_json import JSON


@dataclass(frozen=True)
class AuditActor:
    """One actor as the log keeps it.

    `subject` is the issuer's own id: the account's for a person, the agent's id for an agent.
    `auth_time` is when the session was opened, with a zone.
    """

    kind: Literal["person", "agent", "system"]
    person: UUID | None = None
    account: str | None = None
    issuer: str | None = None
    subject: str | None = None
    token: str | None = None
    session: str | None = None
    methods: tuple[str, ...] = ()
    auth_time: datetime | None = None

    def members(self) -> Mapping[str, JSON]:
        """The members of `actor` in an entry; the entry leaves out those that are None or empty."""
        return {
            "kind": self.kind,
            "person": str(self.person) if self.person else None,
            "account": self.account,
            "issuer": self.issuer,
            "subject": self.subject,
            "token": self.token,
            "session": self.session,
            "methods": list(self.methods),
            "auth_time": _whole_seconds(self.auth_time) if self.auth_time else None,
        }


def _whole_seconds(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


SYSTEM = AuditActor(kind="system", account="console")
