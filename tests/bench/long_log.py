"""Makes a log of so many entries in a scratch folder and verifies it: `python -m tests.bench.long_log COUNT`.

A program of its own, since memory is measured: it prints {"ratio": …, "growth": MB} and leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from statistics import median

ROUNDS = 3  # of a walk that takes minutes
BATCH = 5_000


def main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="huqan-log-") as folder:
        os.environ |= {"HUQAN_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "huqan_site.settings"}
        os.environ.pop("HUQAN_DATABASE_URL", None)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        _lengthen(count)
        print(json.dumps(_measure()))


def _lengthen(count: int) -> None:
    """Append as the log itself does, but a batch in one transaction."""
    from review.audit.actions import Action
    from review.audit.actors import SYSTEM
    from review.audit.log import record
    from review.audit.transaction import write

    for start in range(0, count, BATCH):
        with write():
            for number in range(start, min(start + BATCH, count)):
                record(Action.AUDIT_VERIFIED, actor=SYSTEM, after={"number": number, "digest": "0" * 64})


def _measure() -> dict[str, float]:
    from review.audit.models import Head
    from review.audit.verify import verify
    from review.audit.walk import chunks

    size = Head.objects.get().size
    shares, before = [], _memory()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _rows in chunks(0, size):
            pass
        fetched = time.perf_counter()
        report = verify()
        shares.append((time.perf_counter() - fetched) / (fetched - start))
        assert (report.stop, report.fault_count) == (size, 0), report
    return {"ratio": median(shares), "growth": _memory() - before}


def _memory() -> float:
    """The most that this program has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]))
