"""A server keeps its SQLite database open between requests, for as long as it is the same file with the same rights.

An open file can be written to after it was made read-only, and even after another was put in its place.
"""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakKeyDictionary

from django.core.signals import request_started
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# By connection: the file it has open.
_opened: WeakKeyDictionary[BaseDatabaseWrapper, tuple[int, ...]] = WeakKeyDictionary()


def watch() -> None:
    """Look at the file before each request, and let a connection go whose file is another one by now."""
    connection_created.connect(_note)
    request_started.connect(_let_go)


def _note(connection: BaseDatabaseWrapper, **_: Any) -> None:
    _opened[connection] = _file(connection)


def _let_go(**_: Any) -> None:
    for connection in connections.all(initialized_only=True):
        is_idle = connection.connection is not None and not connection.in_atomic_block
        if is_idle and _opened.get(connection) != _file(connection):
            connection.close()


def _file(connection: BaseDatabaseWrapper) -> tuple[int, ...]:
    """Which file it is, and who may do what with it; nothing for a database that is no file."""
    if connection.vendor != "sqlite":
        return ()
    try:
        stat = os.stat(connection.settings_dict["NAME"])
    except OSError:
        return ()
    return stat.st_dev, stat.st_ino, stat.st_mode
