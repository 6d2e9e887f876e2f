"""What a person proves himself with besides his password: enrolled and removed by himself alone.

The mail address counts as one, since a link that is sent there chooses a password.
"""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, validate_totp_code
from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from review.access import queries
from review.access.actors import Actor, PersonActor
from review.access.factors import APP, RECOVERY
from review.access.models import User
from review.access.refusals import AlreadyEnrolled, NotFound, WrongCode
from review.access.services import rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


def enrol_app(secret: str, code: str, *, by: PersonActor) -> list[str]:
    """Let codes of the app that knows `secret` count from now on; return the recovery codes, this once.

    Raises: WrongCode, AlreadyEnrolled, StepUpNeeded, NotFound.
    """
    now = timezone.now()
    with write():
        user = _own(by)
        rules.require_fresh_factor(by, now)
        if not validate_totp_code(secret, code):
            raise WrongCode
        if Authenticator.objects.filter(user=user, type=APP).exists():
            raise AlreadyEnrolled
        with rules.only_once(AlreadyEnrolled):
            TOTP.activate(user, secret)
        codes = _new_recovery_codes(user)
        _record(Action.FACTOR_ENROLLED, user, by, APP)
        _record(Action.FACTOR_ENROLLED, user, by, RECOVERY)
        return codes


def renew_recovery_codes(*, by: PersonActor) -> list[str]:
    """Make new recovery codes, shown this once; the earlier ones open nothing any more.

    Raises: StepUpNeeded, NotFound (there is no second factor to recover from).
    """
    now = timezone.now()
    with write():
        user = _own(by)
        rules.require_fresh_factor(by, now)
        if not Authenticator.objects.filter(user=user, type=APP).exists():
            raise NotFound
        codes = _new_recovery_codes(user)
        _record(Action.FACTOR_ENROLLED, user, by, RECOVERY)
        return codes


def remove_app(*, by: PersonActor) -> None:
    """Go back to the password alone. Raises: StepUpNeeded, NotFound."""
    now = timezone.now()
    with write():
        user = _own(by)
        rules.require_fresh_factor(by, now)
        _remove_all(user, by)


def remove_factors(username: str, *, by: Actor) -> None:
    """For somebody who lost app and recovery codes: only the operator, who has asked him some other way.

    Raises: NotFound, NotManager.
    """
    with write():
        rules.require_operator(by)
        user = queries.account(username)
        if user is None:
            raise NotFound
        _remove_all(user, by)


def set_address(address: str, *, by: PersonActor) -> None:
    """Set or take away the address that mail goes to, also that for a forgotten password.

    Whoever made the link with which the password was chosen may be the one who sits here, so he vouches for the
    address too, until it is set again under another password.

    Raises: StepUpNeeded, NotFound.
    """
    now = timezone.now()
    with write():
        user = _own(by)
        rules.require_fresh_factor(by, now)
        if (user.email, user.address_vouched_by_id) == (address, user.vouched_by_id):
            return
        user.email, user.address_vouched_by = address, user.vouched_by
        user.save(update_fields=["email", "address_vouched_by"])
        action = Action.FACTOR_ENROLLED if address else Action.FACTOR_REMOVED
        _record(action, user, by, "address", {"address": address})


def _own(by: PersonActor) -> User:
    user = User.objects.select_for_update(no_key=True).filter(id=by.user.id, is_active=True).first()
    if user is None:
        raise NotFound
    return user


def _new_recovery_codes(user: User) -> list[str]:
    Authenticator.objects.filter(user=user, type=RECOVERY).delete()
    codes: list[str] = RecoveryCodes.activate(user).generate_codes()
    return codes


def _remove_all(user: User, by: Actor) -> None:
    removed = list(Authenticator.objects.filter(user=user).order_by("id"))
    if not removed:
        raise NotFound
    Authenticator.objects.filter(user=user).delete()
    for factor in removed:
        _record(Action.FACTOR_REMOVED, user, by, factor.type)


def _record(
    action: Action, user: User, by: Actor, factor: str, private: dict[str, str] | None = None
) -> None:
    after: dict[str, JSON] = {"factor": str(factor)}
    log.record(
        action,
        actor=by.audit(),
        object=log.ObjectRef("account", str(user.id)),
        after=after,
        private=private,
    )
