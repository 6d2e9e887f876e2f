"""Signed checkpoints: what the log says about itself, so that it cannot say something else later.

A checkpoint is a C2SP signed note (https://c2sp.org/tlog-checkpoint): the log's name, how many entries,
the root over them. It is signed in the transaction whose entries it covers and published after the commit.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.db import connection
from django.utils import timezone

from huqan_site.lib import signed_note
from huqan_site.lib.keyring import Keyring, UnusableKey
from review.audit.chain import Frontier, Root, stamp
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


def sign_if_due(*, owed: bool) -> bool:
    """Sign the log as it is now, within the open write(), where that is owed or the last is old.

    Return whether there is a new checkpoint to publish.

    Raises: Unavailable, where the key cannot be read.
    """
    size, signed, stamped = _state()
    due = owed or size - signed >= EVERY_ENTRIES or stamped <= stamp(timezone.now() - EVERY)
    return size > signed and due and _sign(Head.objects.get())


class _State(NamedTuple):
    size: int  # of the log
    signed: int  # of the newest checkpoint
    stamped: str  # when that was signed


def _state() -> _State:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT head.size, COALESCE(newest.size, 0), COALESCE(newest.stamp, '') FROM audit_head head"
            " LEFT JOIN audit_checkpoint newest ON newest.size = (SELECT MAX(size) FROM audit_checkpoint)"
        )
        return _State(*cursor.fetchone())


def newest() -> Checkpoint | None:
    """The newest checkpoint that the database holds."""
    return Checkpoint.objects.order_by("-size").first()


def _sign(head: Head) -> bool:
    statement = Statement(head.log, Root(head.size, Frontier.read(head.size, head.frontier).root()))
    try:
        _, key = _keyring().signing_key(_PURPOSE)
    except (UnusableKey, OSError) as error:
        raise Unavailable from error
    note = signed_note.sign(statement.text(), name=head.log, key=key)
    _, is_new = Checkpoint.objects.get_or_create(
        size=head.size, defaults={"note": note, "stamp": stamp(timezone.now())}
    )
    return is_new


def public_keys() -> list[Ed25519PublicKey]:
    """Every key that ever signed this log and is still in the keys folder. Raises: UnusableKey."""
    return list(_keyring().public_keys(_PURPOSE).values())


def _keyring() -> Keyring:
    return Keyring(Path(settings.HUQAN_KEYS_DIR))
