"""The policy in force, and the rule it has for a tool."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, QuerySet

from review.audit.statements import first, prepared
from review.domain.decision import Verdict
from review.domain.policy import Rule, resolve, rule_number
from review.models import Decision, PolicyVersion, Revision

RuleOf = Callable[[UUID, str], Rule]
NO_DOCUMENT: Mapping[str, Any] = {}


class InForce(NamedTuple):
    """A policy document and its version; version 0 stands for the built-in defaults, which review everything."""

    version: int
    document: Mapping[str, Any]


def in_force(workspace: UUID) -> InForce:
    """Return the newest policy of `workspace`."""
    row = first(_in_force(workspace))
    return InForce(row[1], _document(row[0])) if row else InForce(0, NO_DOCUMENT)


@prepared
def _in_force(workspace: UUID) -> QuerySet[PolicyVersion, tuple[UUID, int]]:
    versions = PolicyVersion.objects.filter(workspace_id=workspace).order_by("-version")
    return versions.values_list("pk", "version")[:1]


def document_of(workspace: UUID, version: int) -> Mapping[str, Any] | None:
    """Return one version's document, of version 0 the built-in defaults; None where there is no such version."""
    pk = _pk(workspace, version)
    return _document(pk) if pk else NO_DOCUMENT if version == 0 else None


def resolved(workspace: UUID, tool: str) -> Rule:
    """Return the rule that `tool` meets now, defaults filled in."""
    return _rule(_newest(workspace), tool)


def in_force_now() -> RuleOf:
    """Return `resolved` for many proposals at once: it asks for the newest policy of each workspace only once."""
    newest = cache(_newest)
    return lambda workspace, tool: _rule(newest(workspace), tool)


def resolved_in(workspace: UUID, version: int, tool: str) -> Rule:
    """Return the rule that `tool` met in one version; version 0 stands for the built-in defaults."""
    return _rule(_pk(workspace, version), tool)


def changers(versions: Iterable[PolicyVersion]) -> dict[UUID, set[UUID]]:
    """Return by id of a version everyone who brought it: who wrote it, who approved it, who put it into force."""
    brought: dict[UUID, set[UUID]] = defaultdict(set)
    by_proposal = {version.proposal_id: version.id for version in versions if version.proposal_id}
    for version in versions:
        if version.activated_by_id:
            brought[version.id].add(version.activated_by_id)
    proposals = tuple(by_proposal)
    for proposal, person in (*_authors(proposals), *_approvers(proposals)):
        brought[by_proposal[proposal]].add(person)
    return brought


@prepared
def _authors(proposals: tuple[UUID, ...]) -> QuerySet[Revision, tuple[UUID, UUID]]:
    written = Revision.objects.filter(proposal__in=proposals, author_person__isnull=False)
    return written.values_list("proposal", "author_person")


@prepared
def _approvers(proposals: tuple[UUID, ...]) -> QuerySet[Decision, tuple[UUID, UUID]]:
    approvals = Decision.objects.filter(proposal__in=proposals, verdict=Verdict.APPROVE)
    return approvals.filter(binding=F("proposal__binding")).values_list("proposal", "person")


def place(workspace: UUID, tool: str) -> tuple[int, int | None]:
    """Return the version in force and which of its rules, counted from 1, `tool` meets."""
    policy = in_force(workspace)
    return policy.version, rule_number(policy.document, tool)


def _pk(workspace: UUID, version: int) -> UUID | None:
    rows = PolicyVersion.objects.filter(workspace_id=workspace, version=version)
    return rows.values_list("pk", flat=True).first()


def _newest(workspace: UUID) -> UUID | None:
    return first(_newest_first(workspace))


@prepared
def _newest_first(workspace: UUID) -> QuerySet[PolicyVersion, UUID]:
    rows = PolicyVersion.objects.filter(workspace_id=workspace).order_by("-version")
    return rows.values_list("pk", flat=True)[:1]


@lru_cache(maxsize=256)
def _document(pk: UUID) -> Mapping[str, Any]:
    """A version never changes, so it is read once."""
    document: Mapping[str, Any] = json.loads(
        PolicyVersion.objects.values_list("document", flat=True).get(pk=pk)
    )
    return document


@lru_cache(maxsize=4096)
def _rule(pk: UUID | None, tool: str) -> Rule:
    return resolve(_document(pk) if pk else NO_DOCUMENT, tool)
