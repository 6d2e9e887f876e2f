"""Statements for what runs with every request: the ORM writes them once, and they are sent again with other values.

Building a query costs the ORM ten times what the database takes to answer it, and a proposal asks two dozen.
The query itself is still said in the ORM's words, once, beside the rules it belongs to.
"""

from __future__ import annotations

import copy
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar
from uuid import UUID, uuid4

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, CharField, IntegerField, Model, QuerySet, TextField
from django.db.models.sql.compiler import SQLCompiler

Asked = ParamSpec("Asked")
Row = TypeVar("Row")
_Shape = tuple[int | None, ...]


def prepared(build: Callable[Asked, QuerySet[Any, Row]]) -> Callable[Asked, list[Row]]:
    """Return a function that gives the rows of the queryset that `build` returns for the same arguments.

    The SQL of the first call serves every later one, so `build` must not decide by its arguments. They are
    positional: UUIDs, aware datetimes, strings, whole numbers, or tuples of these, which are compiled once for
    each length; an empty tuple gives no rows, since nothing is in it.
    """
    compiled: dict[_Shape, _Compiled] = {}
    here = _OfThread()

    @wraps(build)
    def rows(*values: Any) -> list[Row]:
        if () in values:
            return []
        shape = tuple(len(value) if isinstance(value, tuple) else None for value in values)
        if shape not in compiled:
            compiled[shape] = _compile(build, values)
        if shape not in here.statements:
            here.statements[shape] = _Statement(compiled[shape])
        return here.statements[shape].rows(values)

    return rows  # type: ignore[return-value]


def first(rows: Sequence[Row]) -> Row | None:
    """Return the first of what a prepared statement gave, None where that is nothing."""
    return rows[0] if rows else None


class _Compiled(NamedTuple):
    """A queryset with its SQL. `places` says for each parameter which value it is, None for a constant."""

    queryset: QuerySet[Any, Any]
    compiler: SQLCompiler
    sql: str
    params: Sequence[Any]
    places: Sequence[int | None]


class _Statement:
    """A compiled queryset for one thread; it is sent and read to its end before the next."""

    def __init__(self, compiled: _Compiled) -> None:
        self._compiled = compiled
        self._params: list[Any] = []
        self._compiler = copy.copy(compiled.compiler)
        self._compiler.execute_sql = self._sent  # type: ignore[method-assign,assignment]
        self._queryset = compiled.queryset.all()
        self._queryset.query.get_compiler = lambda *_, **__: self._compiler  # type: ignore[method-assign]

    def rows(self, values: Sequence[Any]) -> list[Any]:
        # A thread whose event loop runs has another connection than the same thread before.
        self._compiler.connection = database = connections[DEFAULT_DB_ALIAS]
        given = [_parameter(value, database) for value in _flat(values)]
        self._params = [
            param if place is None else given[place]
            for param, place in zip(self._compiled.params, self._compiled.places, strict=True)
        ]
        rows: Iterable[Any] = self._queryset._iterable_class(self._queryset)  # type: ignore[assignment]
        return list(rows)

    def _sent(self, *_: Any, **__: Any) -> list[list[tuple[Any, ...]]]:
        """Every row in one piece, where the ORM would take them in several."""
        with self._compiler.connection.cursor() as cursor:
            cursor.execute(self._compiled.sql, self._params)
            return [cursor.fetchall()]


class _OfThread(threading.local):
    """The statements of this thread by shape: a statement that is being sent serves nobody else."""

    def __init__(self) -> None:
        self.statements: dict[_Shape, _Statement] = {}


def _compile(build: Callable[..., QuerySet[Any, Any]], values: Sequence[Any]) -> _Compiled:
    """Compile with stand-ins that occur nowhere else, and look where they went."""
    stand_ins = [
        tuple(_stand_in(item) for item in value) if isinstance(value, tuple) else _stand_in(value)
        for value in values
    ]
    queryset = build(*stand_ins)
    compiler = queryset.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    compiler.get_converters = lambda _: converters
    marks = [_parameter(value, compiler.connection) for value in _flat(stand_ins)]
    places = [marks.index(param) if param in marks else None for param in params]
    if set(places) - {None} != set(range(len(marks))):
        raise RuntimeError(
            f"A value of {build.__qualname__} is not sent as it is, so this cannot be prepared."
        )
    return _Compiled(queryset, compiler, sql, params, places)


def _flat(values: Sequence[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, tuple) else (value,))]


def _stand_in(value: Any) -> Any:
    match value:
        case UUID():
            return uuid4()
        case datetime():
            return datetime(9000, 1, 1, tzinfo=UTC) + timedelta(microseconds=secrets.randbits(48))
        case str():
            return secrets.token_hex()
        case int():
            return secrets.randbits(31)  # the ORM leaves out what no integer column could hold
    raise TypeError(f"No query is prepared for values like {type(value).__name__}.")


def _parameter(value: Any, database: BaseDatabaseWrapper) -> Any:
    """`value` as the driver of `database` takes it."""
    if isinstance(value, UUID):
        return value if database.features.has_native_uuid_field else value.hex
    if isinstance(value, datetime):
        return database.ops.adapt_datetimefield_value(value)
    return value


def insert(*rows: Model) -> None:
    """Insert new `rows` of one model by one plain statement.

    Raises: django.db.IntegrityError.
    """
    if not rows:
        return
    written = _written(type(rows[0]))
    values = [_stored(row, *column) for row in rows for column in written.columns]
    with connection.cursor() as cursor:
        cursor.execute(written.sql + ", ".join([written.marks] * len(rows)), values)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


class _Column(NamedTuple):
    name: str
    field: Any
    plain: bool  # what is written is the value itself


class _Written(NamedTuple):
    columns: Sequence[_Column]
    sql: str
    marks: str


_PLAIN_FIELDS = (BooleanField, CharField, IntegerField, TextField)
_PLAIN = frozenset({bool, int, str, type(None)})


def _stored(row: Model, name: str, field: Any, plain: bool) -> Any:
    value = getattr(row, name)
    return value if plain and type(value) in _PLAIN else field.get_db_prep_save(value, connection)


@cache
def _written(model: type[Model]) -> _Written:
    """What an INSERT into the table of `model` says; the database gives the numbers that it gives itself."""
    fields = [field for field in model._meta.concrete_fields if not getattr(field, "db_returning", False)]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    columns = [_Column(field.attname, field, isinstance(field, _PLAIN_FIELDS)) for field in fields]
    return _Written(columns, f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ", f"({marks})")
