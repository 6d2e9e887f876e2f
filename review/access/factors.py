"""Second factors: a code of an app that changes every 30 seconds, and recovery codes for when it is lost.

Their secrets are kept as allauth keeps them, encrypted with a key of the keys folder: a copy of the database
alone makes no code.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from huqan_site.lib.keyring import Keyring
from review.access.models import User

PURPOSE = "factors"
APP, RECOVERY = Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """What allauth asks of us: where secrets are sealed, and what the page says of a wrong code."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _(
            "Not signed in: this code does not fit now, or it was used. Wait for the next one."
        ),
    }

    def get_totp_issuer(self) -> str:
        return "Huqan"

    def get_totp_label(self, user: User) -> str:
        return user.username

    def encrypt(self, text: str) -> str:
        return _sealer().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _sealer().decrypt(encrypted_text.encode()).decode()


class Enrolled(NamedTuple):
    """What an account has besides its password: an app, and how many recovery codes are left."""

    app: bool
    recovery_codes: int


def enrolled(user: User) -> Enrolled:
    rows = {row.type: row for row in Authenticator.objects.filter(user=user)}
    codes = rows[RECOVERY].wrap().get_unused_codes() if RECOVERY in rows else []
    return Enrolled(APP in rows, len(codes))


def has_second(user: User) -> bool:
    """Whether this account gives a code, not only a password."""
    return bool(Authenticator.objects.filter(user=user, type=APP).exists())


def matching(user: User, code: str) -> Authenticator | None:
    """Return the factor that `code` belongs to; it cannot be used again."""
    for row in Authenticator.objects.filter(user=user, type__in=(APP, RECOVERY)).order_by("-type"):
        if row.wrap().validate_code(code):
            return row
    return None


def _sealer() -> MultiFernet:
    keyring = Keyring(settings.HUQAN_KEYS_DIR)
    _id, current = keyring.secret(PURPOSE)
    retained = [current, *keyring.secrets(PURPOSE).values()]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(secret)) for secret in retained])
