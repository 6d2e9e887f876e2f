"""Keyset paging with signed cursors: quick at any depth, steady while rows come and go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from django.core import signing
from django.db.models import BooleanField, ExpressionWrapper, Model, Q, QuerySet

from review.domain.refusals import BadCursor

Row = TypeVar("Row", bound=Model)
READERS: dict[str, Callable[[str], Any]] = {"int": int, "time": datetime.fromisoformat, "id": UUID}


class Page(NamedTuple, Generic[Row]):
    """Some rows of a list, and the cursor of what follows; None at the end."""

    rows: list[Row]
    next_cursor: str | None


@dataclass(frozen=True)
class Keyset:
    """An order to page by: each key is a column, "-" first for descending, with how its text is read back.

    The last key must be unique. `salt` names the list, so that a cursor of one list is none of another.
    """

    salt: str
    keys: tuple[tuple[str, str], ...]

    def page(
        self, *parts: QuerySet[Row], cursor: str | None, size: int, scope: Sequence[str] = ()
    ) -> Page[Row]:
        """Return the page after `cursor`, which holds only for the same `scope` (filters, person).

        The list may be given in parts that have no row in common; each is read by itself, then they are merged.

        Raises: BadCursor.
        """
        after = self._after(self._read(cursor, scope)) if cursor else Q()
        names = [name for name, _ in self.keys]
        found = self.merged([list(part.filter(after).order_by(*names)[: size + 1]) for part in parts])
        return Page(found[:size], self._write(found[size - 1], scope) if len(found) > size else None)

    def look(
        self, *parts: QuerySet[Row], fits: Q, most: int, cursor: str | None, scope: Sequence[str] = ()
    ) -> list[Any]:
        """Return the next `most` rows of `parts` after `cursor`: pk and keys of each, and whether it `fits`.

        For a condition that no index knows.

        Raises: BadCursor.
        """
        after = self._after(self._read(cursor, scope)) if cursor else Q()
        return self.merged([list(self.asking(part.filter(after), fits, most)) for part in parts])[:most]

    def asking(self, rows: QuerySet[Row], fits: Q, most: int) -> QuerySet[Any, Any]:
        """Return the query for what `look` says of the first `most` of `rows`."""
        names = [name for name, _ in self.keys]
        is_fit = ExpressionWrapper(fits, output_field=BooleanField())
        columns = ["pk", "fits", *(name.lstrip("-") for name in names)]
        return rows.annotate(fits=is_fit).order_by(*names)[:most].values_list(*columns, named=True)

    def merged(self, parts: Sequence[list[Any]]) -> list[Any]:
        """Return the rows of all `parts`, each of which stands in this order, in this order."""
        rows = [row for part in parts for row in part]
        if len(parts) > 1:
            self._sort(rows)
        return rows

    def cut(
        self, seen: list[Any], *, fits: bool, most: int, size: int, scope: Sequence[str] = ()
    ) -> Page[Any]:
        """Return the page of those among `seen`, at most `most` rows, that fit, or of those that do not.

        Where almost nothing meets the condition, the page is short and has a cursor.
        """
        found = [row for row in seen if row.fits == fits]
        last = found[size - 1] if len(found) > size else seen[-1] if len(seen) >= most else None
        return Page(found[:size], last and self._write(last, scope))

    def _sort(self, rows: list[Any]) -> None:
        for name, _ in reversed(self.keys):
            rows.sort(key=attrgetter(name.lstrip("-")), reverse=name.startswith("-"))

    def _after(self, place: Sequence[Any]) -> Q:
        """Rows that come later: equal in the first keys, past the place in the next one.

        The condition on the first key alone says nothing new, and lets an index begin there.
        """
        first = self.keys[0][0]
        begin = Q(**{f"{first[1:]}__lte": place[0]}) if first[0] == "-" else Q(**{f"{first}__gte": place[0]})
        condition, equal = Q(pk__in=[]), Q()
        for (name, _), value in zip(self.keys, place, strict=True):
            column, past = (name[1:], "lt") if name.startswith("-") else (name, "gt")
            condition |= equal & Q(**{f"{column}__{past}": value})
            equal &= Q(**{column: value})
        return begin & condition

    def _write(self, row: Any, scope: Sequence[str]) -> str:
        values = [attrgetter(name.lstrip("-"))(row) for name, _ in self.keys]
        texts = [value.isoformat() if isinstance(value, datetime) else str(value) for value in values]
        return signing.dumps([*scope, *texts], salt=self.salt, compress=True)

    def _read(self, cursor: str, scope: Sequence[str]) -> list[Any]:
        try:
            members = signing.loads(cursor, salt=self.salt)
            texts = members[len(scope) :]
            if members[: len(scope)] != list(scope):
                raise BadCursor
            return [READERS[kind](text) for (_, kind), text in zip(self.keys, texts, strict=True)]
        except (signing.BadSignature, ValueError, TypeError) as wrong:
            raise BadCursor from wrong
