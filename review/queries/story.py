"""What a proposal's page tells: its revisions, its votes, and who could have cast them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from review.access.models import Person
from review.audit.statements import prepared
from review.models import Comment, Decision, Proposal, Revision


def current_revision(proposal: Proposal) -> Revision:
    """Return the revision that a decision would count for."""
    [revision] = _numbered(proposal.id, proposal.revision)
    return revision


@prepared
def _numbered(proposal: UUID, number: int) -> QuerySet[Revision]:
    return Revision.objects.filter(proposal=proposal, number=number).select_related("author_person")


class Written(NamedTuple):
    """A revision, and whether it repeats the arguments of the one before: then nobody wrote it, it was bound anew."""

    revision: Revision
    is_repeated: bool


@dataclass(frozen=True)
class Story:
    """What a page tells of a proposal's past, each part read once, newest first."""

    proposal: Proposal

    @cached_property
    def revisions(self) -> list[Revision]:
        """Every revision, without its text."""
        return _revisions(self.proposal.id)

    @cached_property
    def written(self) -> list[Written]:
        """Every revision, with what made it."""
        earlier = [*(row.arguments_digest for row in self.revisions[1:]), ""]
        told = zip(self.revisions, earlier, strict=True)
        return [Written(row, row.arguments_digest == before) for row, before in told]

    @cached_property
    def decisions(self) -> list[Decision]:
        """Every decision, with whose it is."""
        return _decisions(self.proposal.id)

    @cached_property
    def comments(self) -> list[Comment]:
        """What people said about it to each other and was not erased since."""
        return _comments(self.proposal.id)


@prepared
def _revisions(proposal: UUID) -> QuerySet[Revision]:
    rows = Revision.objects.filter(proposal=proposal).select_related("author_person")
    return rows.defer("arguments").order_by("-number")


@prepared
def _decisions(proposal: UUID) -> QuerySet[Decision]:
    return Decision.objects.filter(proposal=proposal).select_related("person").order_by("-created_at")


@prepared
def _comments(proposal: UUID) -> QuerySet[Comment]:
    rows = Comment.objects.filter(proposal=proposal).exclude(text="").select_related("person")
    return rows.order_by("-created_at")


def last_of_agent(proposal: Proposal) -> Revision | None:
    """Return the newest revision that no person wrote."""
    written = Revision.objects.filter(proposal=proposal, author_person__isnull=True)
    return written.order_by("-number").first()


def member_names(workspace: UUID) -> dict[UUID, str]:
    """Return the name of everyone who ever had a role in `workspace`."""
    return dict(_named(workspace))


@prepared
def _named(workspace: UUID) -> QuerySet[Person, tuple[UUID, str]]:
    return Person.objects.filter(memberships__workspace=workspace).values_list("id", "name")


def proposer_names(proposals: Iterable[Proposal]) -> dict[UUID, str]:
    """Return by id of a proposal who made it: its agent, or the person who proposed it himself."""
    made = list(proposals)
    people = Person.objects.filter(id__in=[one.principal for one in made if one.agent_id is None])
    names = dict(people.values_list("id", "name"))
    return {one.id: one.agent.name if one.agent else names.get(one.principal, "") for one in made}


def summaries(ids: Iterable[UUID]) -> Mapping[str, str]:
    """Return our one-line summary of each of the proposals that are there."""
    rows = Proposal.objects.filter(pk__in=set(ids)).values_list("pk", "summary")
    return {str(pk): summary for pk, summary in rows}


def tools(workspaces: Iterable[UUID], chosen: str) -> list[str]:
    """Return the names of the tools that were ever proposed in `workspaces`, 200 at most, and the `chosen` one.

    What is always refused has no proposal, so it is offered only to whoever asked for it.
    """
    rows = Proposal.objects.filter(workspace__in=list(workspaces)).order_by("tool")
    return sorted({*rows.values_list("tool", flat=True).distinct()[:200], chosen} - {""})
