"""How one is told of what concerns one: by mail, by a webhook of one's own, and in the open tab."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import mails
from review.access.actors import PersonActor
from review.access.forms import NewWebhook, Tell
from review.access.roles import Channel, Often
from review.access.sessions import signed_in
from review.access.views.shared import first_error, show
from review.views.agent_parts import secret_of, webhook
from review.webhooks import wishes
from review.webhooks.queries import own_webhooks
from review.webhooks.services import register_own_webhook


@require_safe
@signed_in
def notices(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    return page(request, actor)


@require_POST
@signed_in
def choose(request: HttpRequest, actor: PersonActor, channel: str) -> HttpResponse:
    """Choose when to be told through one channel."""
    if channel not in Channel.values:
        raise Http404
    form = Tell(request.POST, prefix=channel)
    if not form.is_valid():
        return page(request, actor, tell=form)
    told = form.cleaned_data
    wishes.choose(Channel(channel), Often(told["often"]), hour=told["hour"], zone=told["zone"], by=actor)
    return redirect("notices")


@require_POST
@signed_in
def register(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Register one's own webhook and show its secret, this once, in the answer itself."""
    form = NewWebhook(request.POST)
    if not form.is_valid():
        return page(request, actor, new=form)
    try:
        registered = register_own_webhook(form.cleaned_data["url"], by=actor)
    except Refusal as refusal:
        return page(request, actor, new=form, refusal=refusal)
    return page(request, actor, shown_once=secret_of(registered))


def page(
    request: HttpRequest,
    actor: PersonActor,
    *,
    tell: Tell | None = None,
    new: NewWebhook | None = None,
    refusal: Refusal | None = None,
    shown_once: dict[str, Any] | None = None,
) -> HttpResponse:
    """Answer with the page on which one chooses how to be told."""
    said = {
        "shown_once": shown_once,
        "mail": {
            "can_send": mails.can_send(),
            "address": actor.user.email,
            **_choice(actor, Channel.MAIL, tell),
        },
        "webhooks": [webhook(found) for found in own_webhooks(actor.person.id)],
        "by_webhook": _choice(actor, Channel.WEBHOOK, tell),
        "register": {
            "url": reverse("notices_webhook"),
            "typed": new.data.get("url", "") if new else "",
            "error": first_error(new),
        },
    }
    return show(request, "access/notices.html", said, refusal=refusal, form=tell or new)


def _choice(actor: PersonActor, channel: Channel, sent: Tell | None) -> dict[str, Any]:
    """Return the form of one channel as it was sent, if it was, or as it stands."""
    wish = wishes.wish_of(actor.person.id, channel, timezone.now())
    stands = Tell(prefix=channel, initial={"often": wish.often, "hour": wish.hour, "zone": wish.zone})
    ours = sent if sent and sent.prefix == channel else stands
    return {"form": ours, "url": reverse("notices_choose", args=[channel])}
