"""What a proposal's page tells: its revisions, its votes, and who could have cast them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from review.access.models import Person
from review.models import Decision, Proposal, Revision


def current_revision(proposal: Proposal) -> Revision:
    """Return the revision that a decision would count for."""
    rows = Revision.objects.select_related("author_person")
    return rows.get(proposal=proposal, number=proposal.revision)


class Written(NamedTuple):
    """A revision, and whether it repeats the arguments of the one before: then nobody wrote it, it was bound anew."""

    revision: Revision
    is_repeated: bool


def written(proposal: Proposal) -> list[Written]:
    """Return every revision, newest first, with what made it."""
    rows = list(revisions(proposal))
    earlier = [*(row.arguments_digest for row in rows[1:]), ""]
    return [Written(row, row.arguments_digest == before) for row, before in zip(rows, earlier, strict=True)]


def last_of_agent(proposal: Proposal) -> Revision | None:
    """Return the newest revision that no person wrote."""
    written = Revision.objects.filter(proposal=proposal, author_person__isnull=True)
    return written.order_by("-number").first()


def revisions(proposal: Proposal) -> QuerySet[Revision]:
    """Return every revision, newest first, without its text."""
    rows = Revision.objects.filter(proposal=proposal).select_related("author_person")
    return rows.defer("arguments").order_by("-number")


def decisions(proposal: Proposal) -> QuerySet[Decision]:
    """Return every decision, newest first, with whose it is."""
    return Decision.objects.filter(proposal=proposal).select_related("person").order_by("-created_at")


def member_names(workspace: UUID) -> dict[UUID, str]:
    """Return the name of everyone who ever had a role in `workspace`."""
    return dict(Person.objects.filter(memberships__workspace=workspace).values_list("id", "name"))


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


def tools(workspaces: Iterable[UUID]) -> list[str]:
    """Return the names of the tools that were ever proposed in `workspaces`, 200 at most."""
    rows = Proposal.objects.filter(workspace__in=list(workspaces)).order_by("tool")
    return list(rows.values_list("tool", flat=True).distinct()[:200])
