"""A manager proposes a policy. It comes into force when another manager has approved it, not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from huqan_site.lib.canonical_json import canonical, digest
from huqan_site.lib.problems import FieldError, Refusal
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.access.queries import roles_in
from review.access.refusals import NotManager
from review.access.roles import Role
from review.audit import log
from review.domain import satisfiable
from review.domain.decision import OVERTAKEN
from review.domain.policy import check
from review.domain.refusals import Invalid, NotFound, PolicyChanged, ReasonRequired, StaleBinding
from review.models import Proposal
from review.queries.policies import in_force
from review.queries.policy_changes import house_of
from review.services.propose_own import propose_own, sent_before
from review.services.refuse import record_refused
from review.services.settle import settle
from review.services.weigh import weigh_own

TOOL = "policy.change"
NOT_COMPARED = "This is not the text whose difference you were shown. Compare it, then propose it."
UNCHANGED = "This is the policy that runs. Change something before you propose it."


@dataclass(frozen=True)
class Draft:
    """A policy as a manager wrote it, read by the strict reader.

    `replaces` is the version he was shown the difference to, `compared` the digest of the document he was shown.
    """

    document: Mapping[str, Any]
    replaces: int
    reason: str
    compared: str

    def arguments(self) -> dict[str, Any]:
        return {"policy": dict(self.document), "replaces": self.replaces}


def propose_policy(workspace: Workspace, draft: Draft, *, by: PersonActor) -> Proposal:
    """Return the pending `policy.change` that another manager of `workspace` has to approve.

    Each refused attempt is recorded.

    Raises: NotFound, NotManager, PolicyChanged, Invalid, StaleBinding, ReasonRequired, Unsatisfiable.
    """
    text = canonical(draft.arguments())

    def refused(refusal: Refusal) -> None:
        record_refused(refusal, tool=TOOL, text=text, by=by, workspace=workspace.id)

    return settle(lambda: _propose(workspace, draft, by), refused=refused)


def refuse_document(workspace: Workspace, document: Mapping[str, Any], at: str = "") -> None:
    """Refuse what could not stand, what the people who are there could not meet, and what changes nothing.

    Raises: Invalid; its pointers begin with `at`.
    """
    check(dict(document), at)
    if found := satisfiable.errors(document, house_of(workspace.id), at):
        raise Invalid(errors=found)
    if canonical(dict(document)) == canonical(dict(in_force(workspace.id).document)):
        raise Invalid(errors=[FieldError(at, "unchanged", UNCHANGED)])


def refuse_draft(workspace: Workspace, draft: Draft) -> None:
    """Refuse what was not compared with the version that runs, could not stand, or comes without a reason.

    Raises: PolicyChanged, Invalid, StaleBinding, ReasonRequired.
    """
    if draft.replaces != in_force(workspace.id).version:
        raise PolicyChanged(OVERTAKEN)
    refuse_document(workspace, draft.document, "/policy")
    if draft.compared != digest(dict(draft.document)):
        raise StaleBinding(NOT_COMPARED)
    if not draft.reason.strip():
        raise ReasonRequired("Say why the policy should change. The other managers read it first.")


def _propose(workspace: Workspace, draft: Draft, by: PersonActor) -> Proposal:
    # A role that is lost, or a version that comes into force, is so before this or after it.
    now = log.take_turn()
    held = roles_in(workspace.id, by.person.id, now)
    if not held:
        raise NotFound
    if Role.MANAGER not in held:
        raise NotManager
    refuse_draft(workspace, draft)
    if sent := sent_before(TOOL, draft.arguments(), workspace=workspace, by=by, now=now):
        return sent
    weighed = weigh_own(TOOL, draft.arguments(), workspace=workspace, now=now)
    return propose_own(
        TOOL, draft.arguments(), weighed, workspace=workspace, by=by, reason=draft.reason, now=now
    )
