"""Signed checkpoints: what the log says about itself, so that it cannot say something else later.

A checkpoint is a C2SP signed note (https://c2sp.org/tlog-checkpoint): the log's name, how many entries,
the root over them. It is signed in the transaction whose entries it covers and published after the commit.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from huqan_site.lib import signed_note
from huqan_site.lib.keyring import Keyring, UnusableKey
from review.audit.chain import Frontier, Root, stamp, verify_consistency
from review.audit.models import Checkpoint
from review.audit.proofs import consistency
from review.audit.refusals import LogDisputed, Unavailable
from review.audit.statements import first, insert, prepared

EVERY_ENTRIES = 100  # at the latest, when nothing asks for one sooner
EVERY = timedelta(seconds=60)
PURPOSE = "log"  # of the keys that sign


class Adopted(NamedTuple):
    """That people took the log for good although a witness knew another one.

    Up to `agreed` entries both were the same; `given_up` is the SHA-256, in hex, of the note that no longer counts.
    """

    agreed: int
    given_up: str

    def text(self) -> str:
        return f"adopted {self.agreed} {self.given_up}\n"

    @classmethod
    def read(cls, line: str) -> Adopted:
        """Raises: ValueError."""
        word, agreed, given_up = line.split(" ")
        if word != "adopted":
            raise ValueError("No such extension line is known here.")
        return cls(int(agreed), given_up)

    def gives_up(self, note: str) -> bool:
        return self.given_up == note_digest(note)


class Statement(NamedTuple):
    """What a checkpoint says: which log, its root at a size, and for the first after an adoption that it is one."""

    log: str
    root: Root
    adopted: Adopted | None = None

    def text(self) -> str:
        """The lines that are signed: three, and one more after an adoption."""
        head = f"{self.log}\n{self.root.size}\n{base64.b64encode(self.root.hash).decode()}\n"
        return head + (self.adopted.text() if self.adopted else "")

    @classmethod
    def read(cls, note: str) -> Statement:
        """The statement of a note, whoever signed it. Raises: ValueError."""
        log, size, root, *more = note.partition("\n\n")[0].split("\n")
        adopted = Adopted.read(*more) if more else None
        return cls(log, Root(int(size), base64.b64decode(root, validate=True)), adopted)


def note_digest(note: str) -> str:
    """The SHA-256 of a note, in hex."""
    return sha256(note.encode()).hexdigest()


def sign_if_due(*, owed: bool) -> bool:
    """Sign the log as it is now, within the open write(), where that is owed or the last is old.

    Return whether there is a new checkpoint to publish. Nothing is signed that does not continue the last one.

    Raises: LogDisputed, where one is owed that would not; Unavailable, where the key cannot be read.
    """
    ends = _ends()
    due = owed or ends.size - ends.signed >= EVERY_ENTRIES or ends.stamped <= stamp(timezone.now() - EVERY)
    if not due or ends.size == ends.signed:
        return False
    if not ends.continues_what_was_signed():
        if owed:
            raise LogDisputed
        return False
    _sign(Statement(ends.log, ends.root))
    return True


def is_overdue() -> bool:
    """Whether there are entries that no checkpoint is over, and the newest is old. For a look outside write()."""
    ends = _ends()
    return ends.size > ends.signed and ends.stamped <= stamp(timezone.now() - EVERY)


def sign_adopted(adopted: Adopted) -> None:
    """Sign the log as it is now, within the open write(), in place of what the witness file knows.

    Raises: Unavailable, where the key cannot be read.
    """
    ends = _ends()
    _sign(Statement(ends.log, ends.root, adopted))


class _Ends(NamedTuple):
    """Where the log ends and where the newest checkpoint does."""

    log: str
    size: int
    frontier: str
    signed: int  # size of the newest checkpoint
    stamped: str  # when that was signed
    note: str

    @property
    def root(self) -> Root:
        return Root(self.size, Frontier.read(self.size, self.frontier).root())

    def continues_what_was_signed(self) -> bool:
        """Whether the newest checkpoint's tree is the beginning of this one: O(log n) rows, one question."""
        if not self.signed:
            return True
        try:
            path = consistency(self.signed, self.size).path
            return verify_consistency(Statement.read(self.note).root, self.root, path)
        except ValueError:  # the log has a gap there, or ends before what was signed
            return False


def _ends() -> _Ends:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT head.log, head.size, head.frontier, COALESCE(newest.size, 0), COALESCE(newest.stamp, ''),"
            " COALESCE(newest.note, '') FROM audit_head head"
            " LEFT JOIN audit_checkpoint newest ON newest.size = (SELECT MAX(size) FROM audit_checkpoint)"
        )
        return _Ends(*cursor.fetchone())


def newest() -> Checkpoint | None:
    """The newest checkpoint that the database holds."""
    return first(_newest())


@prepared
def _newest() -> QuerySet[Checkpoint]:
    return Checkpoint.objects.order_by("-size")[:1]


def signing_kid() -> str:
    """The id of the key that signs now. Raises: Unavailable."""
    return _signing_key()[0]


def _signing_key() -> tuple[str, Ed25519PrivateKey]:
    try:
        return _keyring().signing_key(PURPOSE)
    except (UnusableKey, OSError) as error:
        raise Unavailable from error


def _sign(statement: Statement) -> None:
    """The head row is locked by whoever appended, so nobody else signs this size."""
    _, key = _signing_key()
    note = signed_note.sign(statement.text(), name=statement.log, key=key)
    insert(Checkpoint(size=statement.root.size, note=note, stamp=stamp(timezone.now())))


def public_keys() -> dict[str, Ed25519PublicKey]:
    """Every key that ever signed this log and is still in the keys folder, by id, oldest first. Raises: UnusableKey."""
    return _keyring().public_keys(PURPOSE)


def verifier_keys() -> list[str]:
    """The same as others are given them, oldest first. Raises: UnusableKey."""
    return [signed_note.verifier_key(settings.HUQAN_LOG_NAME, key) for key in public_keys().values()]


def _keyring() -> Keyring:
    return Keyring(Path(settings.HUQAN_KEYS_DIR))
