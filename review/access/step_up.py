"""Giving a factor again inside an open session, where a rule asks for a fresh one."""

from __future__ import annotations

from allauth.account.internal.flows.login import record_authentication
from allauth.core import ratelimit
from django.http import HttpRequest

from review.access import sessions
from review.access.actors import PersonActor
from review.access.refusals import TooManyAttempts, WrongPassword
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


def step_up(request: HttpRequest, password: str) -> PersonActor:
    """Return the signed-in person with a new `auth_time`, once `password` has proved him.

    Either result is recorded. 10 tries a minute and person.

    Raises: WrongPassword, TooManyAttempts.
    """
    actor = sessions.person_actor(request)
    if actor is None:
        raise WrongPassword
    _count_attempt(request, actor)
    if not actor.user.check_password(password):
        _record(Action.STEP_UP_FAILED, actor)
        raise WrongPassword
    record_authentication(request, actor.user, method="password", reauthenticated=True)
    sessions.forget(request)
    fresh = sessions.person_actor(request) or actor
    _record(Action.STEP_UP_SUCCEEDED, fresh)
    return fresh


def _count_attempt(request: HttpRequest, actor: PersonActor) -> None:
    if not ratelimit.consume(request, action="reauthenticate", user=actor.user):
        raise TooManyAttempts


def _record(action: Action, actor: PersonActor) -> None:
    with write():
        log.record(action, actor=actor.audit(), object=log.ObjectRef("account", str(actor.user.id)))
