"""What managers do with the policy, through the real services, in one line each."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from huqan_site.lib.canonical_json import digest
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.models import Proposal
from review.queries.policies import in_force
from review.services.propose_policy import Draft, propose_policy
from review.services.revise_policy import revise_policy
from tests.support import factories
from tests.support.review_acts import vote

WHY = "The auditors asked for it."


def with_rule(workspace: Workspace, tool: str, **terms: Any) -> dict[str, Any]:
    """Return the policy that runs, with this rule first: the one that `tool` then meets."""
    document: dict[str, Any] = deepcopy(dict(in_force(workspace.id).document))
    return document | {"rules": [{"tool": tool, **terms}, *document.get("rules", [])]}


def proposed(by: PersonActor, workspace: Workspace, document: Mapping[str, Any], **changes: Any) -> Proposal:
    """`by` proposes `document` in place of the version that runs."""
    return propose_policy(workspace, _draft(workspace, document, changes), by=by)


def revised(by: PersonActor, change: Proposal, document: Mapping[str, Any], **changes: Any) -> Proposal:
    """`by` writes `change` otherwise: `document` in place of its revision as it was last read."""
    replaced = changes.pop("revision", change.revision)
    draft = _draft(change.workspace, document, changes)
    return revise_policy(change.id, draft, revision=replaced, by=by)


def _draft(workspace: Workspace, document: Mapping[str, Any], changes: Mapping[str, Any]) -> Draft:
    shown = {"replaces": in_force(workspace.id).version, "compared": digest(dict(document))}
    return Draft(**{"document": document, "reason": WHY, **shown, **changes})


def changed(team: factories.Team, tool: str, **terms: Any) -> Proposal:
    """dana proposes this rule for `tool` and erin approves: it is in force."""
    change = proposed(team.dana, team.acme, with_rule(team.acme, tool, **terms))
    vote(team.erin, change)
    change.refresh_from_db()
    return change
