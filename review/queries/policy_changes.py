"""What a policy would change, whom it asks for, and which open proposals are bound to a rule that holds no longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from review.access.models import Person
from review.domain.binding import Kind
from review.domain.policy import Route, resolve
from review.domain.satisfiable import House, unmet_floor
from review.domain.status import Status
from review.models import PolicyVersion, Proposal, ProposalQuerySet, Revision
from review.queries.cases import RELEASE, memberships_of
from review.queries.policies import changers, in_force, in_force_now

REBOUND = (Status.PENDING, Status.QUARANTINED, Status.APPROVED)
"""The states in which a changed rule binds a proposal anew; what was returned is bound by its next revision."""


class Change(NamedTuple):
    """One tool whose rule would differ: how many proposals that are open, and what becomes of them, in words."""

    tool: str
    open: int
    becomes: str


class Consequences(NamedTuple):
    """What a document would do in place of version `running`. `unmet` are tools that nobody could approve then."""

    running: int
    changes: list[Change]
    unmet: list[tuple[str, str]]

    @property
    def open(self) -> int:
        """How many open proposals would be bound anew or end."""
        return sum(change.open for change in self.changes)


def consequences(workspace: UUID, document: Mapping[str, Any]) -> Consequences:
    """Return what would follow from putting a checked `document` into force now."""
    running = in_force(workspace)
    tools = Counter(
        Proposal.objects.filter(workspace=workspace, status__in=REBOUND)
        .live(timezone.now())
        .values_list("tool", flat=True)
    )
    found = [
        Change(
            tool,
            number,
            _("Rejected: blocked") if after.route is Route.BLOCK else _("Bound anew, votes outdated"),
        )
        for tool, number in sorted(tools.items())
        if (after := resolve(document, tool)).digest != resolve(running.document, tool).digest
    ]
    unmet = [(tool, short.sentence) for tool, short in unmet_floor(document, house_of(workspace))]
    return Consequences(running.version, found, unmet)


def house_of(workspace: UUID) -> House:
    """Return everyone with a role in `workspace` now."""
    return House(memberships_of(workspace), timezone.now())


def changes(workspace: UUID) -> ProposalQuerySet:
    """Return every change of the policy of `workspace` that was ever proposed."""
    return Proposal.objects.filter(workspace=workspace, kind=Kind.POLICY_CHANGE)


class Waiting(NamedTuple):
    """A change that waits for another manager: which proposal, who wrote it, since when."""

    proposal: UUID
    written_by: str
    at: datetime


def waiting(workspace: UUID) -> list[Waiting]:
    """Return the changes of the policy of `workspace` that are open, oldest first."""
    open_ones = changes(workspace).filter(status=Status.PENDING).live(timezone.now())
    rows = Revision.objects.filter(number=F("proposal__revision"), proposal__in=open_ones)
    chosen = rows.order_by("proposal")
    return [Waiting(*row) for row in chosen.values_list("proposal", "author_person__name", "created_at")]


class Version(NamedTuple):
    """One version in the history: who wrote it, who approved it, when it came into force, by which proposal."""

    number: int
    written_by: str
    approved_by: list[str]
    at: datetime
    proposal: UUID | None


def history(workspace: UUID) -> list[Version]:
    """Return every version of the policy of `workspace`, newest first."""
    rows = list(PolicyVersion.objects.filter(workspace_id=workspace).order_by("-version").defer("document"))
    brought = changers(rows)
    names = dict(Person.objects.filter(id__in=set().union(*brought.values())).values_list("id", "name"))
    writers = dict(
        Revision.objects.filter(proposal__in=[row.proposal_id for row in rows if row.proposal_id])
        .filter(number=F("proposal__revision"))
        .values_list("proposal", "author_person")
    )
    return [_version(row, brought[row.id], writers, names) for row in rows]


def _version(
    row: PolicyVersion, brought: set[UUID], writers: Mapping[UUID, UUID | None], names: Mapping[UUID, str]
) -> Version:
    writer = writers.get(row.proposal_id) if row.proposal_id else None
    approved = sorted(names[person] for person in brought if writer and person != writer)
    written_by = names[writer] if writer else ""
    return Version(row.version, written_by, approved, row.created_at, row.proposal_id)


def outdated(limit: int, workspace: UUID | None = None) -> list[UUID]:
    """Return up to `limit` proposals that are bound to another rule than the one that holds now, oldest first."""
    rows = Revision.objects.filter(number=F("proposal__revision"), proposal__status__in=REBOUND).order_by()
    if workspace is not None:
        rows = rows.filter(proposal__workspace=workspace)
    bound = rows.values_list("proposal__workspace", "proposal__tool", "rule_digest").distinct()
    released = rows.filter(proposal__status=Status.QUARANTINED)
    rules, changed = in_force_now(), Q(pk__in=[])
    for where, tool, digest in bound:
        if rules(where, tool).digest != digest:
            changed |= Q(proposal__workspace=where, proposal__tool=tool, rule_digest=digest)
    for where, digest in released.values_list("proposal__workspace", "deciding_digest").distinct():
        if rules(where, RELEASE).digest != digest:
            changed |= Q(
                proposal__workspace=where, proposal__status=Status.QUARANTINED, deciding_digest=digest
            )
    return list(rows.filter(changed).order_by("proposal").values_list("proposal", flat=True)[:limit])
