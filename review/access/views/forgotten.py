"""A forgotten password: one answer to every name, and a mail to the stored address if there is one."""

from __future__ import annotations

from allauth.core import ratelimit
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from review.access import mails
from review.access.forms import Forgotten
from review.access.services.resets import ask_for_reset
from review.access.views.shared import show


@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for a link by mail. The answer says nothing of whether the account exists or has an address."""
    form = Forgotten(request.POST or None)
    asked = form.is_valid() and mails.can_send()
    if asked and _may_ask(request, form.cleaned_data["username"]):
        ask_for_reset(form.cleaned_data["username"])
    said = {"form": form, "asked": asked, "can_mail": mails.can_send()}
    return show(request, "account/password_forgotten.html", said, form=form)


def _may_ask(request: HttpRequest, username: str) -> bool:
    """20 a minute from one address and 5 an hour for one name; beyond that nothing happens, and nothing is said."""
    return bool(ratelimit.consume(request, action="reset_password", key=username.casefold()))
