"""What an approved `policy.change` does: the next version of the policy, in force from the deciding transaction on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from huqan_site.lib.canonical_json import canonical
from review.access import wording
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.domain.policy import check
from review.effects import NeverHeld, PreviewRow, Submission
from review.models import Proposal
from review.queries.policies import in_force
from review.queries.policy_changes import consequences
from review.services.activate_policy import activate

Arguments = Mapping[str, Any]


class PolicyChange(NeverHeld):
    """The effect of `policy.change {policy, replaces}`: the whole document, and the version it was made for."""

    schema: Mapping[str, Any] = {
        "type": "object",
        "required": ["policy", "replaces"],
        "additionalProperties": False,
        "properties": {"policy": {"type": "object"}, "replaces": {"type": "integer", "minimum": 0}},
    }

    def signals(self, submission: Submission) -> list[Signal]:
        """Nothing stands against a document that could stand; others are not taken. Raises: Invalid."""
        check(submission.arguments["policy"], "/arguments/policy")
        return []

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        version = activate(proposal, arguments["policy"], replaces=arguments["replaces"], by=actor)
        return {"result": "succeeded", "version": version.version}

    def tellable(self, arguments: Arguments) -> Arguments:
        return arguments

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        found = consequences(proposal.workspace_id, arguments["policy"])
        return [
            PreviewRow(_("The policy"), _version(found.running), _version(found.running + 1)),
            *(
                PreviewRow(
                    _("Open proposals for %(tool)s") % {"tool": change.tool}, str(change.open), change.becomes
                )
                for change in found.changes
            ),
            *(
                PreviewRow(_("%(tool)s cannot be approved") % {"tool": tool}, "", wording.said(sentence))
                for tool, sentence in found.unmet
            ),
        ]

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """The policy that runs, whatever version the change was made for."""
        running = in_force(proposal.workspace_id)
        return canonical({"policy": dict(running.document), "replaces": running.version})

    def target(self, arguments: Arguments) -> ObjectRef | None:
        """The version that it was made for stands in its arguments, and is compared there."""
        return None


def _version(number: int) -> str:
    return _("Version %(number)s") % {"number": number}
