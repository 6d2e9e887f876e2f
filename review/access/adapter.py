"""What django-allauth asks of us: who may sign in, where the sign-in leads, and that the log has it.

allauth opens no transaction around a sign-in. So the entry is written by the adapter itself, and whoever
cannot be recorded is not signed in.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.internal.httpkit import clean_client_ip
from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.contrib.auth import logout as end_session
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from review.access import queries, sessions
from review.access.actors import ISSUER, PersonActor
from review.access.models import User
from review.audit import log
from review.audit.actions import Action
from review.audit.actors import AuditActor
from review.audit.transaction import write


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Names, passwords and second factors only; no sign-up, no mail."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _(
            "Not signed in: name and password do not fit, or the account is disabled."
        ),
        "too_many_login_attempts": _(
            "Not signed in: too many wrong attempts from where you are. Try again in 5 minutes."
        ),
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that attempts are counted by.

        Of X-Forwarded-For only what our own proxies wrote is believed: so many places from the right as
        HUQAN_TRUSTED_PROXIES says, none unless it says so.
        """
        trusted: int = settings.HUQAN_TRUSTED_PROXIES
        forwarded = request.headers.get("X-Forwarded-For", "").split(",")
        claimed = forwarded[-trusted] if 0 < trusted <= len(forwarded) else ""
        return clean_client_ip(claimed) or request.META.get("REMOTE_ADDR") or "unknown"

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count wrong passwords by address and account, so that nobody locks out somebody elsewhere."""
        typed = str(credentials.get("username", ""))
        user = queries.account(typed)
        return f"{get_ip(request)} {user.id if user else typed.casefold()}"

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        """Follow `next` only to a page of this very host."""
        request: HttpRequest = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing: the page that follows shows who is signed in."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return whose credentials these are; a disabled person's are answered like wrong ones."""
        user = super().authenticate(request, **credentials)
        if isinstance(user, User) and not sessions.may_sign_in(user):
            self.authentication_failed(request, **credentials)
            return None
        return user if isinstance(user, User) else None

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record the attempt: a known account by name, anything else that was typed as a commitment only."""
        typed = str(credentials.get("username", ""))
        user = queries.account(typed)
        tried = AuditActor(kind="person", issuer=ISSUER, account=user.username if user else None)
        with write():
            log.record(
                Action.SIGN_IN_FAILED,
                actor=tried,
                object=log.ObjectRef("account", str(user.id)) if user else None,
                private=None if user else {"account": typed},
            )

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Open the session and record it; without the entry there is no session."""
        super().login(request, user)
        try:
            self._record_sign_in(request)
        except Exception:
            with suppress(DatabaseError):
                end_session(request)
            raise

    def logout(self, request: HttpRequest) -> None:
        actor = sessions.person_actor(request)
        if actor is not None:
            _record(Action.SIGN_OUT_DONE, actor)
        super().logout(request)
        sessions.forget(request)

    def _record_sign_in(self, request: HttpRequest) -> None:
        if request.session.session_key is None:  # a session of somebody else was thrown away
            request.session.save()
        sessions.forget(request)
        actor = sessions.person_actor(request)
        if actor is None:
            raise PermissionDenied
        _record(Action.SIGN_IN_SUCCEEDED, actor)


def _record(action: Action, actor: PersonActor) -> None:
    with write():
        log.record(action, actor=actor.audit(), object=log.ObjectRef("account", str(actor.user.id)))
