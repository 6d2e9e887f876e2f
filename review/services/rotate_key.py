"""A new key signs from now on; what earlier ones signed is still checked."""

from __future__ import annotations

from django.conf import settings

from huqan_site.lib.keyring import Keyring
from review.access.actors import SystemActor
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.transaction import write

PURPOSES = ("permit", "log")


def rotate_key(purpose: str, *, by: SystemActor) -> str:
    """Have a new key for `purpose`, one of PURPOSES, sign from now on, and return its id.

    What the old one signed stays good: it is kept, published and looked up as before.

    Raises: OSError where the keys folder cannot be written; nothing is recorded then.
    """
    keyring = Keyring(settings.HUQAN_KEYS_DIR)
    with write():
        before, _ = keyring.signing_key(purpose)
        log.take_turn()
        keyring.rotate(purpose)
        kid, _ = keyring.signing_key(purpose)
        log.record(
            Action.KEY_ROTATED,
            actor=by.audit(),
            object=ObjectRef("key", kid),
            before={"kid": before},
            after={"kid": kid, "purpose": purpose},
        )
    return kid
