"""Long polls: `Prefer: wait=N` (RFC 7240) holds an answer back until the proposal changes.

A waiter holds a thread, so there are at most half as many waiters as threads; who comes beyond
that, or asks for what cannot change any more, is answered at once.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import HttpRequest

LONGEST = 25.0  # seconds
PAUSE = 0.25  # seconds between two looks
_WAIT = re.compile(r'(?:^|[,;\s])wait\s*=\s*"?(\d{1,4})"?(?=$|[,;\s])', re.IGNORECASE)
_waiters = threading.BoundedSemaphore(max(1, settings.HUQAN_THREADS // 2))


def seconds_asked(request: HttpRequest) -> float:
    """Return how long the request would wait: 0 without a preference, at most 25."""
    match = _WAIT.search(request.headers.get("Prefer", ""))
    return min(float(match[1]), LONGEST) if match else 0.0


def wait_until(changed: Callable[[], bool], seconds: float) -> bool:
    """Look until `changed()` says so or `seconds` are over; return whether waiting was possible at all.

    The state is read first: what was decided just before the poll began is not missed.
    """
    if seconds <= 0 or not _waiters.acquire(blocking=False):
        return False
    try:
        ends = time.monotonic() + seconds
        while not changed() and time.monotonic() < ends:
            connection.close_if_unusable_or_obsolete()
            time.sleep(PAUSE)
        return True
    finally:
        _waiters.release()
