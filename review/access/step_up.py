"""Giving a factor again inside an open session, where a rule asks for a fresh one.

Who has a second factor gives a code of it; a password alone is then no proof.
"""

from __future__ import annotations

from allauth.account.internal.flows.login import record_authentication
from allauth.core import ratelimit
from django.http import HttpRequest

from huqan_site.lib.problems import Refusal
from review.access import factors, sessions
from review.access.actors import PersonActor
from review.access.models import User
from review.access.refusals import TooManyAttempts, WrongCode, WrongPassword
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


def step_up(request: HttpRequest, given: str) -> PersonActor:
    """Return the signed-in person with a new `auth_time`, once `given`, a password or code, has proved him.

    Either result is recorded. After 5 wrong ones nothing is tried for 5 minutes, from no account of his.

    Raises: WrongPassword, WrongCode, TooManyAttempts.
    """
    actor = sessions.person_actor(request)
    if actor is None:
        raise WrongPassword
    key = str(actor.person.id)
    if not ratelimit.consume(request, action="step_up", key=key):
        raise _failed(actor, TooManyAttempts())
    _prove(request, actor, given)
    ratelimit.clear(request, action="step_up", key=key)
    sessions.forget(request)
    fresh = sessions.person_actor(request) or actor
    _record(Action.STEP_UP_SUCCEEDED, fresh)
    return fresh


def _prove(request: HttpRequest, actor: PersonActor, given: str) -> None:
    if factors.has_second(actor.user):
        _prove_by_code(request, actor, given)
    elif not actor.user.check_password(given):
        raise _failed(actor, WrongPassword())
    else:
        record_authentication(request, actor.user, method="password", reauthenticated=True)


def _prove_by_code(request: HttpRequest, actor: PersonActor, code: str) -> None:
    factor = factors.matching(actor.user, code)
    if factor is None:
        raise _failed(actor, WrongCode())
    record_authentication(request, actor.user, method="mfa", type=factor.type, reauthenticated=True)


def _failed(actor: PersonActor, refusal: Refusal) -> Refusal:
    _record(Action.STEP_UP_FAILED, actor, refusal.code)
    return refusal


def _record(action: Action, actor: PersonActor, code: str = "") -> None:
    user: User = actor.user
    with write():
        log.record(
            action,
            actor=actor.audit(),
            object=log.ObjectRef("account", str(user.id)),
            after={"code": code} if code else None,
        )
