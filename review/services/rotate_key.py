"""A new key signs from now on; what earlier ones signed is still checked."""

from __future__ import annotations

from django.conf import settings

from huqan_site.lib.keyring import Keyring
from review.access.actors import SystemActor
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.models import Entry
from review.audit.transaction import write

PURPOSES = ("permit", "log")


def rotate_key(purpose: str, *, by: SystemActor) -> str:
    """Have a new key for `purpose`, one of PURPOSES, sign from now on, and return its id.

    What the old one signed stays good: it is kept, published and looked up as before. A key that was made by a
    rotation that broke off is the new one: the log then tells of it.

    Raises: OSError where the keys folder cannot be written; nothing is recorded then.
    """
    keyring = Keyring(settings.HUQAN_KEYS_DIR)
    with write():
        keyring.signing_key(purpose)  # makes the first
        log.take_turn()
        if not _is_untold(list(keyring.public_keys(purpose))):
            keyring.rotate(purpose)
        *_, before, kid = keyring.public_keys(purpose)
        log.record(
            Action.KEY_ROTATED,
            actor=by.audit(),
            object=ObjectRef("key", kid),
            before={"kid": before},
            after={"kid": kid, "purpose": purpose},
        )
    return kid


def _is_untold(kids: list[str]) -> bool:
    """Whether the newest of several keys is one that no entry tells of."""
    told = Entry.objects.filter(object_id=kids[-1], action=Action.KEY_ROTATED)
    return len(kids) > 1 and not told.exists()
