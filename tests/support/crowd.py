"""People and agents who act in the same moment, each on a database connection of his own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from django.db import connection

from huqan_site.lib.problems import Refusal

PATIENCE = 60  # seconds until a barrier that never fills is a failure


class Crowd:
    """Threads that stay, so that a round costs no new thread and no new connection."""

    def __init__(self, size: int = 2) -> None:
        self._threads = ThreadPoolExecutor(size)
        self._start = threading.Barrier(size)
        self._size = size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(threading.BrokenBarrierError):
            self.at_once(*[_hang_up] * self._size)
        self._threads.shutdown()

    def at_once(self, *acts: Callable[[], Any]) -> list[Any]:
        """Do `acts`, one a thread, in the same moment; return what each returned or the Refusal it met.

        Raises: whatever else one of them raised, once all are over.
        """
        assert len(acts) == self._size
        done = [self._threads.submit(self._run, act) for act in acts]
        return [_result(one) for one in done]

    def _run(self, act: Callable[[], Any]) -> Any:
        self._start.wait(PATIENCE)
        return act()


def _hang_up() -> None:
    connection.close()  # that of the thread it is called in


def _result(done: Future[Any]) -> Any:
    try:
        return done.result()
    except Refusal as refusal:
        return refusal


def told(result: Any) -> str:
    """Return the code of a refusal, and `done` for everything else."""
    return result.code if isinstance(result, Refusal) else "done"
