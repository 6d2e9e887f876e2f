"""Secrets of webhooks: made, kept sealed, and used to sign.

A receiver's secret must be had in clear to sign with, so it cannot be kept as a digest. It is sealed with a key
from the keys folder: who reads the database, or a backup of it, cannot speak in the console's name.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from standardwebhooks import Webhook as Signer

from huqan_site.lib.keyring import Keyring, UnusableKey

PURPOSE = "webhook"
_BYTES, _NONCE = 32, 12


def new_secret() -> str:
    """Return a secret of 256 random bits, as Standard Webhooks writes one."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def seal(secret: str, webhook: UUID) -> str:
    """Return `secret` as it is stored: the id of the key, then nonce and text sealed for this webhook alone.

    Raises: UnusableKey, OSError.
    """
    kid, key = _keyring().secret(PURPOSE)
    nonce = secrets.token_bytes(_NONCE)
    sealed = nonce + AESGCM(key).encrypt(nonce, secret.encode(), webhook.bytes)
    return f"{kid}:{base64.b64encode(sealed).decode()}"


def unseal(stored: str, webhook: UUID) -> str:
    """Return the secret again. Raises: UnusableKey where its key is gone, or it was sealed for another webhook."""
    kid, _, text = stored.partition(":")
    key = _keyring().secrets(PURPOSE).get(kid)
    if key is None:
        raise UnusableKey("The key that sealed this secret is not in the keys folder. Rotate the secret.")
    sealed = base64.b64decode(text)
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], webhook.bytes).decode()
    except InvalidTag:
        raise UnusableKey("This secret was changed since it was stored. Rotate it.") from None


def signatures(message: UUID, at: datetime, body: str, with_secrets: Iterable[str]) -> str:
    """Return the `webhook-signature` header: one signature for each secret that is good at `at`."""
    return " ".join(Signer(secret).sign(str(message), at, body) for secret in with_secrets)


def _keyring() -> Keyring:
    return Keyring(settings.HUQAN_KEYS_DIR)
