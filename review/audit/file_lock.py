"""A lock that one file stands for, between threads and between programs."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the exclusive lock on `path` for the block, waiting for it; yield a descriptor that appends.

    Each call opens the file anew, so threads of one program exclude each other too. The file is made with
    mode 0600 where there is none. The lock goes with the descriptor, also when the program is killed.

    Raises: OSError.
    """
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


class Queue:
    """The same lock for those who cannot wait for ever: one queue in this program, and its first at the file.

    The system gives a lock on a file in turn, and only to who waits without an end; polling for it instead would
    let the program that has just released it take it again. So a thread that nobody waits for does the waiting.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first = threading.Lock()
        self._asked: _Asked | None = None

    @contextmanager
    def turn(self, wait: float) -> Iterator[None]:
        """Hold the lock for the block. Raises: TimeoutError (an OSError) after `wait` seconds; OSError."""
        ends = time.monotonic() + wait
        if not self._first.acquire(timeout=wait):
            raise TimeoutError
        try:
            descriptor = self._take(ends)
            try:
                yield
            finally:
                os.close(descriptor)
        finally:
            self._first.release()

    def _take(self, ends: float) -> int:
        if self._asked is None or not self._asked.still_wanted():
            descriptor = _opened(self._path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except BlockingIOError:
                self._asked = _Asked(descriptor)
        if not self._asked.answered(ends - time.monotonic()):
            raise TimeoutError  # the next in the queue goes on waiting for the same answer
        descriptor, self._asked = self._asked.descriptor, None
        return descriptor


class _Asked(threading.Thread):
    """Waits for the lock as long as it takes, and gives it back at once where nobody wants it any more."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True)
        self.descriptor = descriptor
        self._change = threading.Condition()
        self._wanted, self._has_it, self._is_over = True, False, False
        self.start()

    def run(self) -> None:
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        with self._change:
            if not self._wanted:
                os.close(self.descriptor)
            self._has_it, self._is_over = self._wanted, not self._wanted
            self._change.notify()

    def still_wanted(self) -> bool:
        """Want it again; return False where it was given back meanwhile."""
        with self._change:
            self._wanted = True
            return not self._is_over

    def answered(self, wait: float) -> bool:
        """Wait so many seconds; return whether the lock is held now. Else it is not wanted any more."""
        with self._change:
            self._change.wait_for(lambda: self._has_it, max(wait, 0))
            self._wanted = self._has_it
            return self._has_it
