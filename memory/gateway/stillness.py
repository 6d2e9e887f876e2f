"""One writer at a time in memory, so that what a rule has read is still so when it writes."""

from __future__ import annotations

from review.audit import log


def stand_still() -> None:
    """Let nobody else change memory until the open write() ends.

    Comes after the lock on a proposal. No lock of its own: each change to memory is recorded, and a second
    lock beside the log's could be waited for in another order.
    Raises: RuntimeError outside write(), Unavailable.
    """
    log.take_turn()
