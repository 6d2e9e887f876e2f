"""The outermost door's transaction: everything inside it happens with its entries, or none of it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import OperationalError, connection, transaction

from review.audit import checkpoints, witness
from review.audit.file_lock import Queue
from review.audit.refusals import Unavailable


@dataclass
class Write:
    """The open transaction, and what is due when it ends."""

    standing: witness.Standing  # how the log stood to the witness file when it began
    grew: bool = False  # the log has new entries
    owes_checkpoint: bool = False  # one of them has to be anchored outside at once
    signed: bool = False  # a checkpoint is committed with it


_open: ContextVar[Write | None] = ContextVar("huqan_open_write", default=None)


def current() -> Write | None:
    """The write() that is open here; None outside one."""
    return _open.get()


@contextmanager
def write(*, wait: float | None = None) -> Iterator[None]:
    """Open the one durable transaction of a request, command or worker step; effects join it.

    On SQLite writers queue at a file lock before BEGIN IMMEDIATE, which is fairer than its busy time-out;
    on PostgreSQL rows are locked one by one, the log's head last, under READ COMMITTED.
    After a commit that owes one, a signed checkpoint is appended to the witness file. Where that fails the
    commit stands, and the next write() is refused until the file can be appended to.

    `wait` is how many seconds it waits for its turn on SQLite, HUQAN_WRITE_WAIT_SECONDS where nothing is said: less
    is for what may as well be left out.

    Raises: Unavailable (503) where the database or the witness file cannot be written.
            RuntimeError where a write() is already open.
    """
    if current():
        raise RuntimeError("write() is opened by the outermost door alone: join the open one.")
    try:
        with _queue(wait or settings.HUQAN_WRITE_WAIT_SECONDS):
            here = Write(witness.catch_up())
            with _transaction(here):
                yield
            if here.signed:
                witness.publish()
    except OperationalError as error:
        raise Unavailable from error


@contextmanager
def _transaction(here: Write) -> Iterator[None]:
    token = _open.set(here)
    try:
        with transaction.atomic(durable=True):
            yield
            if here.grew:
                here.signed = checkpoints.sign_if_due(owed=here.owes_checkpoint)
    finally:
        _open.reset(token)


@contextmanager
def _queue(wait: float) -> Iterator[None]:
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            try:
                stack.enter_context(_writers().turn(wait))
            except OSError as error:
                raise Unavailable from error
            stack.enter_context(_busy_for(wait))
        yield


@cache
def _writers() -> Queue:
    return Queue(Path(settings.HUQAN_DATA_DIR) / "write.lock")


@contextmanager
def _busy_for(wait: float) -> Iterator[None]:
    """Let SQLite itself wait that long for a program that does not queue with us."""
    usual: float = settings.HUQAN_WRITE_WAIT_SECONDS
    if wait == usual:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout={int(wait * 1000)}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout={int(usual * 1000)}")
