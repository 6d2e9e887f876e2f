"""A lock that one file stands for, between threads and between programs."""

from __future__ import annotations

import fcntl
import os
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
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
