"""What the log keeps of a webhook: that it is there, whose it is, and a sealed copy of its address."""

from __future__ import annotations

from collections.abc import Mapping

from huqan_site.lib.canonical_json import JSON
from review.access.actors import Actor
from review.audit import log
from review.audit.actions import Action
from review.webhooks.models import Webhook


def record(action: Action, webhook: Webhook, by: Actor, *, after: Mapping[str, JSON] | None = None) -> None:
    """Append an entry. The address may hold a secret of the receiver's, so only a salted digest is in the chain."""
    log.record(
        action,
        actor=by.audit(),
        workspace=webhook.agent.workspace_id if webhook.agent else None,
        object=log.ObjectRef("webhook", webhook.id),
        after=after,
        private={"url": webhook.url},
        agent=webhook.agent_id,
    )
