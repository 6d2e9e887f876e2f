"""What a proposal's arguments are compared with: the reviewed binding, or another that a reader chooses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from review.access.models import Person
from review.audit.statements import first, prepared
from review.domain.decision import Verdict
from review.domain.sameness import target
from review.domain.status import Status
from review.effects import effect_of
from review.models import Decision, Look, Proposal, Revision
from review.queries.story import current_revision

RAN = (Status.APPROVED, Status.RUNNING, Status.SUCCEEDED, Status.EXECUTED, Status.UNKNOWN, Status.FAILED)
LOOKED_BACK = 50


@dataclass(frozen=True)
class Base:
    """A text to compare with. `key` names it in the address and in the form's nonce; None: nothing stands yet."""

    key: str
    text: str | None
    revision: int | None = None
    proposal: UUID | None = None
    looked_at: datetime | None = None
    approved: bool = False


NOTHING = Base("none", None)


def bases_of(proposal: Proposal, person: Person) -> list[Base]:
    """Return what can be compared with, the reviewed one first: Approve works on that comparison only."""
    arguments = arguments_of(proposal)
    standing = _standing(proposal, arguments)
    reviewed = _reviewed(proposal, person) or standing or _last_approved(proposal, arguments) or NOTHING
    others = [*([standing] if standing else []), *_earlier(proposal), NOTHING]
    return [reviewed, *(base for base in others if base.key != reviewed.key)]


def _reviewed(proposal: Proposal, person: Person) -> Base | None:
    """The last earlier revision that was approved, or that this person was shown."""
    approved = first(_approved(proposal.id, proposal.revision)) or 0
    look = first(_looks(proposal.id, person.id, proposal.revision))
    number = max(approved, look.revision if look else 0)
    if not number:
        return None
    text = Revision.objects.get(proposal=proposal, number=number).arguments
    seen_at = look.at if look and look.revision == number else None
    return Base(f"r{number}", text, revision=number, looked_at=seen_at, approved=number == approved)


def last_look(proposal: Proposal, person: Person) -> datetime | None:
    """Return when `person` last had something new of `proposal` on the screen."""
    return first(_looked_at(proposal.id, person.id))


@prepared
def _approved(proposal: UUID, before: int) -> QuerySet[Decision, int]:
    approvals = Decision.objects.filter(proposal=proposal, verdict=Verdict.APPROVE, revision__lt=before)
    return approvals.order_by("-revision").values_list("revision", flat=True)[:1]


@prepared
def _looks(proposal: UUID, person: UUID, before: int) -> QuerySet[Look]:
    looks = Look.objects.filter(proposal=proposal, person=person, revision__lt=before)
    return looks.order_by("-revision")[:1]


@prepared
def _looked_at(proposal: UUID, person: UUID) -> QuerySet[Look, datetime]:
    looks = Look.objects.filter(proposal=proposal, person=person)
    return looks.order_by("-at").values_list("at", flat=True)[:1]


def _standing(proposal: Proposal, arguments: dict[str, Any]) -> Base | None:
    """For a change of memory: the record as it stands."""
    effect = effect_of(proposal.tool)
    text = effect.base(proposal, arguments) if effect and arguments else None  # without any it was erased
    return Base("standing", text) if text is not None else None


def _last_approved(proposal: Proposal, arguments: dict[str, Any]) -> Base | None:
    """The last approved call of the same tool with the same target."""
    if effect_of(proposal.tool) is not None:
        return None
    wanted = target(arguments)
    for ran, text in _calls(proposal.workspace_id, proposal.tool):
        if ran != proposal.id and target(json.loads(text)) == wanted:
            return Base(f"p{ran}", text, proposal=ran, approved=True)
    return None


@prepared
def _calls(workspace: UUID, tool: str) -> QuerySet[Revision, tuple[UUID, str]]:
    """The newest approved calls of a tool, one more than are looked at: one of them may be the call itself."""
    ran = Proposal.objects.filter(workspace=workspace, tool=tool, status__in=RAN).order_by("-id")
    newest = ran.values("pk")[: LOOKED_BACK + 1]
    current = Revision.objects.filter(proposal__in=newest, number=F("proposal__revision"))
    return current.order_by("-proposal_id").values_list("proposal", "arguments")


def _earlier(proposal: Proposal) -> list[Base]:
    rows = _before(proposal.id, proposal.revision)
    return [Base(f"r{row.number}", row.arguments, revision=row.number) for row in rows]


@prepared
def _before(proposal: UUID, number: int) -> QuerySet[Revision]:
    return Revision.objects.filter(proposal=proposal, number__lt=number).order_by("-number")


def arguments_of(proposal: Proposal) -> dict[str, Any]:
    """Return the arguments of the current revision, read from the stored text."""
    return dict(json.loads(current_revision(proposal).arguments))
