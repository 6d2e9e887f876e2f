"""The outermost door's transaction: everything inside it happens with its entries, or none of it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import OperationalError, connection, transaction

from review.audit import checkpoints, witness
from review.audit.file_lock import Queue
from review.audit.refusals import LogDisputed, Unavailable


@dataclass
class Write:
    """The open transaction, and what is due when it ends."""

    standing: witness.Standing  # how the log stood to the witness file when it began
    grew: bool = False  # the log has new entries
    owes_checkpoint: bool = False  # one of them has to be anchored outside at once
    signed: bool = False  # a checkpoint is committed with it
    withdraws: bool = False  # one of them has a line in the file of what was withdrawn
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    adopted: checkpoints.Adopted | None = None  # the log is taken for good in it


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

    Raises: Unavailable (503) where the database or the witness file cannot be written, or its turn does not come
            within HUQAN_WRITE_WAIT_SECONDS.
            RuntimeError where a write() is already open.
    """
    if current():
        raise RuntimeError("write() is opened by the outermost door alone: join the open one.")
    try:
        with _queue(settings.HUQAN_WRITE_WAIT_SECONDS):
            here = Write(witness.catch_up())
            with _transaction(here):
                yield
            if here.signed:
                witness.publish()
    except OperationalError as error:
        raise Unavailable from error
    for work in here.afterwards:
        work()


def afterwards(work: Callable[[], None]) -> None:
    """Have `work` done once the open write() is committed and others may write again; not at all where it is undone.

    What was written stands whatever becomes of `work`, so it must not raise. Raises: RuntimeError outside write().
    """
    here = current()
    if here is None:
        raise RuntimeError("Nothing is open that something could be done after.")
    here.afterwards.append(work)


@contextmanager
def alone(wait: float) -> Iterator[None]:
    """Keep other writers waiting, without a transaction: for what the engine allows only outside one.

    Raises: Unavailable where the turn does not come within `wait` seconds.
    """
    with _queue(wait):
        yield


@contextmanager
def aside(wait: float) -> Iterator[None]:
    """Open a transaction for what a power cut may take: a count, a look. Nothing can be recorded in it.

    It takes its place among the writers, for `wait` seconds at most, but does not wait for the disk.

    Raises: Unavailable where the database cannot be written, or its turn does not come in time.
    """
    try:
        with _queue(wait), _unhurried(wait), transaction.atomic(durable=True):
            if connection.vendor == "postgresql":
                _say("SET LOCAL synchronous_commit = off")
            yield
    except OperationalError as error:
        raise Unavailable from error


@contextmanager
def _transaction(here: Write) -> Iterator[None]:
    token = _open.set(here)
    try:
        with transaction.atomic(durable=True):
            yield
            here.signed = _sign(here)
    finally:
        _open.reset(token)


def _sign(here: Write) -> bool:
    """Sign what `here` owes, and return whether there is something to publish: nothing of a disputed log."""
    if here.adopted:
        checkpoints.sign_adopted(here.adopted)
        return True
    if not here.grew or here.standing is witness.Standing.DISPUTED:
        return False
    try:
        return checkpoints.sign_if_due(owed=here.owes_checkpoint)
    except LogDisputed:
        witness.compare_again()
        raise


@contextmanager
def _queue(wait: float) -> Iterator[None]:
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            try:
                stack.enter_context(_writers().turn(wait))
            except OSError as error:
                raise Unavailable from error
        yield


@cache
def _writers() -> Queue:
    return Queue(Path(settings.HUQAN_DATA_DIR) / "write.lock")


@contextmanager
def _unhurried(wait: float) -> Iterator[None]:
    """Let SQLite wait that long for a program that does not queue with us, and not at all for the disk."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    _say(f"PRAGMA busy_timeout={int(wait * 1000)}")
    _say("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        _say("PRAGMA synchronous=FULL")
        _say(f"PRAGMA busy_timeout={int(settings.HUQAN_WRITE_WAIT_SECONDS * 1000)}")


def _say(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
