"""A version of the policy comes into force: the first by whoever sets up, every later one by an approved change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from huqan_site.lib.canonical_json import JSON, canonical, digest
from review.access.actors import Actor, PersonActor
from review.access.models import Workspace
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.transaction import write
from review.domain.policy import check
from review.domain.refusals import AlreadyDecided, PolicyChanged
from review.models import PolicyVersion, Proposal
from review.queries.policies import InForce, in_force


def activate_first(workspace: Workspace, document: Mapping[str, Any], *, by: Actor) -> PolicyVersion:
    """Put version 1 into force in a workspace that has no policy yet.

    Raises: Invalid, naming the place; AlreadyDecided when a version is in force.
    """
    check(dict(document))
    with write():
        running = in_force(workspace.id)
        if running.version:
            raise AlreadyDecided(
                "A policy is in force. Changing it is a proposal that another manager approves."
            )
        return _activate(workspace, document, running, by)


def activate(proposal: Proposal, document: Mapping[str, Any], *, replaces: int, by: Actor) -> PolicyVersion:
    """Within the deciding transaction: put the approved `document` into force in place of version `replaces`.

    Raises: PolicyChanged when another version runs by now.
    """
    running = in_force(proposal.workspace_id)
    if running.version != replaces:
        raise PolicyChanged
    return _activate(proposal.workspace, document, running, by, proposal)


def _activate(
    workspace: Workspace,
    document: Mapping[str, Any],
    running: InForce,
    by: Actor,
    proposal: Proposal | None = None,
) -> PolicyVersion:
    version = PolicyVersion.objects.create(
        workspace=workspace,
        version=running.version + 1,
        document=canonical(dict(document)),
        created_at=timezone.now(),
        activated_by=by.person if isinstance(by, PersonActor) else None,
        proposal=proposal,
    )
    before: dict[str, JSON] = {"version": running.version, "digest": digest(dict(running.document))}
    log.record(
        Action.POLICY_ACTIVATED,
        actor=by.audit(),
        workspace=workspace.id,
        object=ObjectRef("policy", version.id, version.version),
        before=before if running.version else None,
        after={"digest": digest(dict(document)), "version": version.version},
        proposal=proposal.id if proposal else None,
    )
    return version
