"""A server keeps its SQLite database open between requests, for as long as it is the same file with the same rights.

An open file can be written to after it was made read-only, and even after another was put in its place. And where
none could be written to when it was opened, SQLite keeps the memory that its connections share read-only until the
last of them in this program is closed: so none of such a file is kept, and it works again once it can be written to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from django.core.signals import request_finished, request_started
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# By connection: the file it has open.
_opened: WeakKeyDictionary[BaseDatabaseWrapper, tuple[int, ...]] = WeakKeyDictionary()


def watch() -> None:
    """Let a connection go whose file is another one by now, before a request, or takes no writes, after it."""
    connection_created.connect(_note)
    request_started.connect(_let_go_of_another)
    request_finished.connect(_let_go_of_read_only)


def can_be_kept(connection: BaseDatabaseWrapper) -> bool:
    """Whether `connection` may stay open when nobody uses it; one to no file always may."""
    name = str(connection.settings_dict["NAME"])
    return connection.vendor != "sqlite" or not os.path.exists(name) or os.access(name, os.W_OK)


def _note(connection: BaseDatabaseWrapper, **_: Any) -> None:
    _opened[connection] = _file(connection)


def _let_go_of_another(**_: Any) -> None:
    for connection in _idle():
        if _opened.get(connection) != _file(connection):
            connection.close()


def _let_go_of_read_only(**_: Any) -> None:
    for connection in _idle():
        if not can_be_kept(connection):
            connection.close()


def _idle() -> Iterator[BaseDatabaseWrapper]:
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not connection.in_atomic_block:
            yield connection


def _file(connection: BaseDatabaseWrapper) -> tuple[int, ...]:
    """Which file it is, and who may do what with it; nothing for a database that is no file."""
    if connection.vendor != "sqlite":
        return ()
    try:
        stat = os.stat(connection.settings_dict["NAME"])
    except OSError:
        return ()
    return stat.st_dev, stat.st_ino, stat.st_mode
