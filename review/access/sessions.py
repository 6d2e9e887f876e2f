"""Who a page request comes from: the session, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from allauth.account.authentication import get_authentication_records
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import urlencode
from django_htmx.middleware import HtmxDetails

from review.access.actors import PersonActor
from review.access.models import User
from review.access.refusals import SignedOut

P = ParamSpec("P")
PageOf = Callable[Concatenate[HttpRequest, PersonActor, P], HttpResponseBase]
Page = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

_READ_ONCE = "_huqan_person_actor"


def person_actor(request: HttpRequest) -> PersonActor | None:
    """Return who is signed in, read from the database once a request.

    None when nobody is, or when the account or its person was disabled since.
    """
    if not hasattr(request, _READ_ONCE):
        setattr(request, _READ_ONCE, _read(request))
    actor: PersonActor | None = getattr(request, _READ_ONCE)
    return actor


def forget(request: HttpRequest) -> None:
    """Have the next `person_actor` read anew, after a sign-in or a new password."""
    if hasattr(request, _READ_ONCE):
        delattr(request, _READ_ONCE)


def may_sign_in(user: User) -> bool:
    return user.is_active and user.person.disabled_at is None


def session_reference(key: str) -> str:
    """Return what the log calls a session: 32 hex digits that lead back to no cookie."""
    return hashlib.sha256(b"huqan.session.v1\0" + key.encode()).hexdigest()[:32]


def _read(request: HttpRequest) -> PersonActor | None:
    user = request.user
    if not isinstance(user, User) or not may_sign_in(user):
        return None
    methods, at = _authentication(request, user)
    reference = session_reference(request.session.session_key or "")
    return PersonActor(person=user.person, user=user, session=reference, methods=methods, auth_time=at)


def _authentication(request: HttpRequest, user: User) -> tuple[tuple[str, ...], datetime | None]:
    """Return how the session was opened, each method once, and when a factor was last given."""
    records: list[dict[str, Any]] = get_authentication_records(request, user)
    methods = tuple(dict.fromkeys(str(record["method"]) for record in records))
    times = [datetime.fromtimestamp(record["at"], UTC) for record in records]
    return methods, max(times, default=None)


def signed_in(view: PageOf[P]) -> Page[P]:
    """Give `view` the person who is signed in as its second argument; lead anybody else to the sign-in.

    Something that was sent is not thrown away by a redirect: the answer says that it was not
    recorded, and the browser's way back still has what was typed.
    """

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        actor = person_actor(request)
        if actor is None:
            return _to_sign_in(request)
        return view(request, actor, *args, **kwargs)

    return guarded


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        raise SignedOut
    if request.headers.get("HX-Request"):
        # A part of a page leads back to the page it was asked for.
        query = urlencode({"next": HtmxDetails(request).current_url_abs_path or request.get_full_path()})
        return HttpResponse(headers={"HX-Redirect": f"{resolve_url('account_login')}?{query}"})
    return redirect_to_login(request.get_full_path())
