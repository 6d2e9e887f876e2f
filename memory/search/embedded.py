"""The engine without a server: indexes in this server's memory, brought up to date before each answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from uuid import UUID

from memory.domain.tokens import TOKENIZER_VERSION
from memory.search.contract import Corpus, Epoch, Hit, Mode, Query
from memory.search.index import Index

MOST_SCOPES = 64
ANY_NUMBER = 1 << 62
MOST_BYTES = 256 * 1024 * 1024

_Key = tuple[UUID, int]


class TooManyRecords(Exception):
    """This scope is for an engine that does not keep it in memory."""


class _Shelf:
    """One scope's index and the lock under which it is brought up to date and read.

    Whoever waits for the lock needs the same update, and a ranking takes less than a millisecond, so
    readers queue; each one sees the index exactly as of one epoch.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.weight = 0
        self._number: int | None = None
        self._index: Index | None = None

    def clear(self) -> None:
        """Keep nothing."""
        self._index, self.weight = None, 0

    def current(self, corpus: Corpus, scope: UUID, epoch: Epoch) -> Index:
        """The index as of `epoch`: as it is, with the tail appended, or built anew."""
        index, self._index = self._index, None  # nothing half done survives an error
        if index is None or self._number != epoch.number or not _catches_up(index, corpus, scope, epoch):
            index = Index(corpus.eligible(scope))
        self._index, self._number, self.weight = index, epoch.number, index.weight
        return index


def _catches_up(index: Index, corpus: Corpus, scope: UUID, epoch: Epoch) -> bool:
    """Append what is new. False: that does not account for every record, as when a lower id came later."""
    if not _matches(index, epoch):
        index.extend(list(corpus.eligible(scope, index.last)))
    return _matches(index, epoch)


def _matches(index: Index, epoch: Epoch) -> bool:
    return (index.last, len(index)) == (epoch.last, epoch.size)


class EmbeddedEngine:
    """BM25, substring and recency over indexes kept per scope, the least recently used dropped first."""

    name = "embedded"

    def __init__(
        self, most_scopes: int = MOST_SCOPES, most_bytes: int = MOST_BYTES, most_records: int = ANY_NUMBER
    ) -> None:
        self._most_scopes = most_scopes
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._shelves: OrderedDict[_Key, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def rank(self, corpus: Corpus, scope: UUID, query: Query, mode: Mode, limit: int | None) -> list[Hit]:
        """See `Engine.rank`. The epoch is read under the lock, so it is never older than the index.

        Raises: TooManyRecords where the scope has more than this engine keeps.
        """
        shelf = self._shelf((scope, TOKENIZER_VERSION))
        with shelf.lock:
            epoch = corpus.epoch(scope)
            if epoch is not None:
                if epoch.size > self._most_records:
                    shelf.clear()
                    raise TooManyRecords
                hits = shelf.current(corpus, scope, epoch).rank(query, mode, limit)
                self._make_room()
                return hits
        return Index(corpus.eligible(scope)).rank(query, mode, limit)

    def _shelf(self, key: _Key) -> _Shelf:
        with self._lock:
            shelf = self._shelves.setdefault(key, _Shelf())
            self._shelves.move_to_end(key)
            return shelf

    def _make_room(self) -> None:
        """Drop the least recently used until both bounds hold; the latest one always stays."""
        with self._lock:
            weight = sum(shelf.weight for shelf in self._shelves.values())
            while len(self._shelves) > self._most_scopes or (
                weight > self._most_bytes and len(self._shelves) > 1
            ):
                _, dropped = self._shelves.popitem(last=False)
                weight -= dropped.weight
