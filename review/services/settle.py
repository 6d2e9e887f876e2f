"""The outermost door of every use case: one durable transaction in which a refusal is recorded too (I27)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db import transaction

from huqan_site.lib.problems import Refusal
from review.audit.refusals import Unavailable
from review.audit.transaction import write

Result = TypeVar("Result")


def settle(work: Callable[[], Result], *, refused: Callable[[Refusal], None]) -> Result:
    """Run `work` under the write lock; when it refuses, undo what it wrote, record the refusal, commit, raise.

    Raising inside the transaction would roll the refusal's own entry back. Where nothing can be recorded at all
    there is nothing to record of that either (I25).
    """
    with write():
        try:
            with transaction.atomic():
                return work()
        except Unavailable:
            raise
        except Refusal as caught:
            refusal = caught
            refused(refusal)
    raise refusal
