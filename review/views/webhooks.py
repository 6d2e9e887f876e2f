"""What is done with one webhook, of an agent or of one's own; afterwards the page that it stands on is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.views import agent, notices
from review.views.agent_parts import secret_of
from review.webhooks.services import remove_webhook, rotate_secret, send_test, try_again

if TYPE_CHECKING:
    from review.webhooks.models import Webhook


@require_POST
@signed_in
def rotate(request: HttpRequest, actor: PersonActor, webhook: UUID) -> HttpResponse:
    """Give it a new secret and show that, this once, in the answer itself."""
    rotated = rotate_secret(webhook, by=actor)
    if rotated.webhook.agent_id is None:
        return notices.page(request, actor, shown_once=secret_of(rotated))
    return agent.page(request, actor, rotated.webhook.agent_id, shown_once=secret_of(rotated))


@require_POST
@signed_in
def remove(request: HttpRequest, actor: PersonActor, webhook: UUID) -> HttpResponse:
    return redirect(_where(remove_webhook(webhook, by=actor)))


@require_POST
@signed_in
def test(request: HttpRequest, actor: PersonActor, webhook: UUID) -> HttpResponse:
    return redirect(_where(send_test(webhook, by=actor)))


@require_POST
@signed_in
def again(request: HttpRequest, actor: PersonActor, message: UUID) -> HttpResponse:
    return redirect(_where(try_again(message, by=actor)))


def _where(webhook: Webhook) -> str:
    return reverse("agent", args=[webhook.agent_id]) if webhook.agent_id else reverse("notices")
