"""The outermost door's transaction: everything inside it happens with its entries, or none of it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import OperationalError, connection, transaction

from review.audit import checkpoints, witness
from review.audit.file_lock import locked
from review.audit.refusals import Unavailable


@dataclass
class Write:
    """The open transaction: how the log stands, whether it grew, whether its commit owes a checkpoint."""

    standing: witness.Standing
    grew: bool = False
    owes_checkpoint: bool = False


_open: ContextVar[Write | None] = ContextVar("huqan_open_write", default=None)


def current() -> Write | None:
    """The write() that is open here; None outside one."""
    return _open.get()


@contextmanager
def write() -> Iterator[None]:
    """Open the one durable transaction of a request, command or worker step; effects join it.

    On SQLite writers queue at a file lock before BEGIN IMMEDIATE, which is fairer than its busy time-out;
    on PostgreSQL rows are locked one by one, the log's head last, under READ COMMITTED.
    After a commit that owes one, a signed checkpoint is appended to the witness file. Where that fails the
    commit stands, and the next write() is refused until the file can be appended to.

    Raises: Unavailable (503) where the database or the witness file cannot be written.
            RuntimeError where a write() is already open.
    """
    if current():
        raise RuntimeError("write() is opened by the outermost door alone: join the open one.")
    try:
        with _queue():
            with _transaction(witness.catch_up()):
                yield
            witness.publish()
    except OperationalError as error:
        raise Unavailable from error


@contextmanager
def _transaction(standing: witness.Standing) -> Iterator[None]:
    here = Write(standing)
    token = _open.set(here)
    try:
        with transaction.atomic(durable=True):
            yield
            if here.grew:
                checkpoints.sign_if_due(owed=here.owes_checkpoint)
    finally:
        _open.reset(token)


def _queue() -> AbstractContextManager[object]:
    if connection.vendor != "sqlite":
        return nullcontext()
    return locked(Path(settings.HUQAN_DATA_DIR) / "write.lock")
