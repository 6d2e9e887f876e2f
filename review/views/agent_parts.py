"""The parts of the page of one agent, each as templates/access/agent.html documents it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.access import queries
from review.access.actors import PersonActor
from review.access.forms import Mint, NewWebhook, Owner, Why
from review.access.roles import Scope
from review.access.roster import AgentRow, TokenRow, members_of
from review.access.views.shared import first_error
from review.queries import fleet
from review.views.rows import outcome_of
from review.webhooks.queries import webhooks_of

if TYPE_CHECKING:
    from review.webhooks.models import Message
    from review.webhooks.queries import WebhookRow
    from review.webhooks.services import Registered


def head(row: AgentRow) -> dict[str, Any]:
    agent = row.agent
    return {
        "id": agent.id,
        "name": agent.name,
        "workspace": agent.workspace.name,
        "owners": [owner.name for owner in row.owners],
        "state": row.state,
        "created_at": agent.created_at,
        "last_seen": row.last_seen,
        "requests": sum(token.requests for token in row.tokens if token.last_used_at == row.last_seen),
        "stopped_at": agent.stopped_at,
        "stopped_by": agent.stopped_by.name if agent.stopped_by else None,
        "stop_reason": agent.stop_reason,
    }


def warnings(row: AgentRow, actor: PersonActor, now: datetime) -> list[dict[str, str]]:
    """Return what keeps the agent from working, above all where a second person is needed who is not there."""
    return [*_of_the_stop(row, actor, now), *_of_deciders(row, now)]


def stop(row: AgentRow, actor: PersonActor, form: forms.Form | None) -> dict[str, Any]:
    ours = form if isinstance(form, Why) else None
    return {
        "stop_url": reverse("agent_stop", args=[row.agent.id]),
        "resume_url": reverse("agent_resume", args=[row.agent.id]),
        "may_lift": not _stopped_by(row, actor),
        "reason": ours.data.get("reason", "") if ours else "",
        "error": first_error(ours),
    }


def transfer(row: AgentRow, form: forms.Form | None) -> dict[str, Any]:
    blank = Owner(members=members_of([row.agent.workspace]))
    return {
        "url": reverse("agent_transfer", args=[row.agent.id]),
        "owners": blank.fields["owner"].choices,  # type: ignore[attr-defined]
        "error": first_error(form if isinstance(form, Owner) else None),
    }


def delegations(row: AgentRow, now: datetime) -> list[dict[str, Any]]:
    return [
        {"person": delegation.person.name, "since": delegation.since}
        for delegation in queries.delegations_to(row.agent.id, now)
    ]


def token(row: TokenRow) -> dict[str, Any]:
    kept = row.token
    return {
        "id": kept.handle,
        "scopes": kept.scopes,
        "minted_by": kept.minted_by.name,
        "minted_at": kept.created_at,
        "expires_at": kept.expires_at,
        "last_used_at": row.last_used_at,
        "state": row.state,
        "revoke_url": reverse("token_revoke", args=[kept.id]),
    }


def mint(row: AgentRow, form: forms.Form | None) -> dict[str, Any]:
    ours = form if isinstance(form, Mint) else None
    chosen = ours.data.getlist("scopes") if ours else [Scope.PROPOSE, Scope.READ]  # type: ignore[attr-defined]
    return {
        "url": reverse("agent_mint", args=[row.agent.id]),
        "scopes": [{"value": value, "checked": value in chosen} for value in Scope.values],
        "days": ours.data.get("days") if ours else 90,
        "error": first_error(ours),
    }


def webhooks(row: AgentRow) -> list[dict[str, Any]]:
    return [webhook(found) for found in webhooks_of(row.agent.id)]


def webhook(found: WebhookRow) -> dict[str, Any]:
    """Return templates/components/webhook.html's context."""
    webhook = found.webhook
    return {
        "url": webhook.url,
        "registered_by": webhook.registered_by.name,
        "created_at": webhook.created_at,
        "gone_at": webhook.gone_at,
        "both_until": webhook.earlier_until,
        "messages": [_message(message) for message in found.messages],
        "test_url": reverse("webhook_test", args=[webhook.id]),
        "rotate_url": reverse("webhook_rotate", args=[webhook.id]),
        "remove_url": reverse("webhook_remove", args=[webhook.id]),
    }


def secret_of(registered: Registered) -> dict[str, Any]:
    """Return templates/components/shown_once.html's context."""
    return {
        "title": _("The secret of a webhook, shown this once"),
        "sentence": _("Copy it now: the receiver verifies with it that a message is the console's."),
        "text": registered.secret,
    }


def register(row: AgentRow, form: forms.Form | None) -> dict[str, Any]:
    ours = form if isinstance(form, NewWebhook) else None
    return {
        "url": reverse("agent_webhooks", args=[row.agent.id]),
        "typed": ours.data.get("url", "") if ours else "",
        "error": first_error(ours),
    }


def open_proposals(row: AgentRow, now: datetime) -> dict[str, Any]:
    return {
        "number": fleet.open_counts([row.agent.id], now).get(row.agent.id, 0),
        "newest": [
            {
                "url": reverse("proposal", args=[proposal.id]),
                "tool": proposal.tool,
                "summary": proposal.summary,
                "created_at": proposal.created_at,
                "outcome": outcome_of(proposal, now),
            }
            for proposal in fleet.open_of(row.agent.id, now)
        ],
    }


def _of_the_stop(row: AgentRow, actor: PersonActor, now: datetime) -> Iterator[dict[str, str]]:
    if row.state == "unowned" or (row.state == "stopped" and not row.answered):
        yield _amber(
            _("Nobody active answers for it"), _("It changes nothing until you name an owner below.")
        )
    if row.state != "stopped":
        return
    stopper = row.agent.stopped_by_id
    if _stopped_by(row, actor):
        yield _amber(
            _("Another manager must lift this stop"), _("You stopped it, so a second person lifts it.")
        )
    if stopper and queries.managers(row.agent.workspace_id, now) <= {queries.himself(stopper)}:
        yield _red(
            _("There is no second manager"),
            _("Nobody can lift this stop: %(workspace)s has no manager but the one who stopped it.")
            % {"workspace": row.agent.workspace.name},
            reverse("people"),
            _("Grant the role"),
        )


def _stopped_by(row: AgentRow, actor: PersonActor) -> bool:
    stopper = row.agent.stopped_by_id
    return stopper is not None and queries.himself(stopper) == queries.himself(actor.person.id)


def _of_deciders(row: AgentRow, now: datetime) -> Iterator[dict[str, str]]:
    found = fleet.deciders(row, now)
    if not found.short:
        return
    title = ngettext(
        "%(number)d person can approve what it proposes",
        "%(number)d people can approve what it proposes",
        found.people,
    ) % {"number": found.people}
    needs = ", ".join(f"{tool or _('all other tools')} ({people})" for tool, people in found.short)
    sentence = _(
        "Its owners and whoever minted its tokens do not count. Too few for: %(needs)s. Such a proposal is refused."
    ) % {"needs": needs}
    yield _amber(title, sentence, reverse("people"), _("Add reviewers"))


def _amber(title: str, sentence: str, url: str = "", label: str = "") -> dict[str, str]:
    return {
        "tone": "amber",
        "sign": "warning",
        "title": title,
        "sentence": sentence,
        "link_url": url,
        "link_label": label,
    }


def _red(title: str, sentence: str, url: str, label: str) -> dict[str, str]:
    return {**_amber(title, sentence, url, label), "tone": "red"}


def _message(message: Message) -> dict[str, Any]:
    return {
        "type": message.type,
        "created_at": message.created_at,
        "delivered_at": message.delivered_at,
        "given_up_at": message.given_up_at,
        "due_at": message.due_at,
        "attempts": message.attempts,
        "last_answer": message.last_answer,
        "again_url": reverse("message_again", args=[message.id]),
    }
