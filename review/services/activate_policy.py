"""The first policy of a workspace. Every later version is a proposal that another manager approves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from huqan_site.lib.canonical_json import canonical, digest
from review.access.actors import Actor, PersonActor
from review.access.models import Workspace
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.transaction import write
from review.domain.policy import check
from review.domain.refusals import AlreadyDecided
from review.models import PolicyVersion


def activate_first(workspace: Workspace, document: Mapping[str, Any], *, by: Actor) -> PolicyVersion:
    """Put version 1 into force in a workspace that has no policy yet.

    Raises: Invalid, naming the place; AlreadyDecided when a version is in force.
    """
    check(dict(document))
    with write():
        if PolicyVersion.objects.filter(workspace=workspace).exists():
            raise AlreadyDecided(
                "A policy is in force. Changing it is a proposal that another manager approves."
            )
        version = PolicyVersion.objects.create(
            workspace=workspace,
            version=1,
            document=canonical(dict(document)),
            created_at=timezone.now(),
            activated_by=by.person if isinstance(by, PersonActor) else None,
        )
        log.record(
            Action.POLICY_ACTIVATED,
            actor=by.audit(),
            workspace=workspace.id,
            object=ObjectRef("policy", version.id, version.version),
            after={"digest": digest(dict(document)), "version": 1},
        )
    return version
