"""Signed checkpoints: what the log says about itself, so that it cannot say something else later.

A checkpoint is a C2SP signed note (https://c2sp.org/tlog-checkpoint): the log's name, how many entries,
the root over them. It is signed in the transaction whose entries it covers and published after the commit.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.utils import timezone

from huqan_site.lib import signed_note
from huqan_site.lib.keyring import Keyring, UnusableKey
from review.audit.chain import Frontier, Root
from review.audit.models import Checkpoint, Head
from review.audit.refusals import Unavailable

EVERY_ENTRIES = 100  # at the latest, when nothing asks for one sooner
EVERY = timedelta(seconds=60)
_PURPOSE = "log"


class Statement(NamedTuple):
    """What a checkpoint says: which log, and its root at a size."""

    log: str
    root: Root

    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.log}\n{self.root.size}\n{base64.b64encode(self.root.hash).decode()}\n"

    @classmethod
    def read(cls, note: str) -> Statement:
        """The statement of a note, whoever signed it. Raises: ValueError."""
        log, size, root = note.partition("\n\n")[0].split("\n")[:3]
        return cls(log, Root(int(size), base64.b64decode(root, validate=True)))


def sign_if_due(*, owed: bool) -> None:
    """Sign the log as it is now, within the open write(), where that is owed or the last is old.

    Raises: Unavailable, where the key cannot be read.
    """
    head = Head.objects.get()
    last = newest()
    if last and last.size == head.size:
        return
    if owed or last is None or _is_old(last, head.size, timezone.now()):
        _sign(head)


def _is_old(last: Checkpoint, size: int, now: datetime) -> bool:
    return size - last.size >= EVERY_ENTRIES or now - last.time >= EVERY


def newest() -> Checkpoint | None:
    """The newest checkpoint that the database holds."""
    return Checkpoint.objects.order_by("-size").first()


def _sign(head: Head) -> Checkpoint:
    statement = Statement(head.log, Root(head.size, Frontier.read(head.size, head.frontier).root()))
    try:
        _, key = _keyring().signing_key(_PURPOSE)
    except (UnusableKey, OSError) as error:
        raise Unavailable from error
    note = signed_note.sign(statement.text(), name=head.log, key=key)
    return Checkpoint.objects.create(size=head.size, note=note, time=timezone.now())


def public_keys() -> list[Ed25519PublicKey]:
    """Every key that ever signed this log and is still in the keys folder. Raises: UnusableKey."""
    return list(_keyring().public_keys(_PURPOSE).values())


def _keyring() -> Keyring:
    return Keyring(Path(settings.HUQAN_KEYS_DIR))
