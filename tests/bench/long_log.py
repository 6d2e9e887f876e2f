"""Makes a log of so many entries in a scratch folder and verifies it: `python -m tests.bench.long_log COUNT`.

A program of its own, since memory is measured: it prints {"ratio": …, "growth": MB, "page": …}, leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from uuid import UUID

from huqan_site.lib.canonical_json import JSON

ROUNDS = 3  # of a walk that takes minutes
BATCH = 5_000
SHORT = 10_000  # entries of the log that pages are compared with
ASKED = 15  # times each page is asked for
_IDS = [str(UUID(int=number)) for number in range(8)]
# A decision, as most of a log is: every column is filled, and the text is as long as usual.
_DECISION: dict[str, JSON] = {
    "actor": {
        "account": "alice",
        "issuer": "local",
        "kind": "person",
        "methods": ["password", "otp"],
        "person": _IDS[0],
        "subject": _IDS[1],
    },
    "action": "decision.approved",
    "workspace": _IDS[2],
    "object": {"type": "proposal", "id": _IDS[3], "revision": 1},
    "after": {"agent": _IDS[4], "status": "pending", "tool": "memory.write"},
    "app_version": "1.0.0",
    "binding": "0" * 64,
    "conflict_set": [_IDS[5], _IDS[6]],
    "decision": _IDS[7],
    "policy": "sha256:" + "0" * 64,
    "risk": "low",
    "shown": "0" * 64,
}


def main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="huqan-log-") as folder:
        os.environ |= {"HUQAN_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "huqan_site.settings"}
        os.environ.pop("HUQAN_DATABASE_URL", None)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        _lengthen(SHORT)
        short, others = _pages(), _once()
        _lengthen(count - SHORT)
        pages, once = _pages(), _once()
        grown = {name: once[name] / others[name] for name in once}
        slowest = max(pages[name] / short[name] for name in short)
        print(json.dumps({**_measure(), **grown, "page": slowest}))


def _lengthen(count: int) -> None:
    """Append what the log itself would, but many entries at once: the guards, which want one by one, are down."""
    from django.db import connection

    from review.audit import guards
    from review.audit.transaction import write

    guards.remove(connection)
    for _ in range(0, count, BATCH):
        with write():
            _append(BATCH - 1)
        _record()  # the log's own way, which signs a checkpoint
    guards.install(connection)


def _append(count: int) -> None:
    """Append `count` decisions. Only place and time differ, so the text of one is written and the others follow it."""
    from django.db import connection
    from django.utils import timezone

    from review.audit import chain, log
    from review.audit.index import columns
    from review.audit.walk import Row

    head = log._locked_head()
    entry, _ = log._next(head, _DECISION)
    pieces = _around(entry.canonical, f'"{head.leaf}"', f'"seq":{head.size},', f'"{entry.stamp}"')
    tree, leaf, rows = chain.Tree(chain.Frontier.read(head.size, head.frontier)), head.leaf, []
    for seq in range(head.size, head.size + count):
        time, prev = max(chain.stamp(timezone.now()), head.time), leaf
        text = "".join(
            (pieces[0], f'"{prev}"', pieces[1], f'"seq":{seq},', pieces[2], f'"{time}"', pieces[3])
        )
        digest = chain.leaf_of(text)
        leaf = digest.hex()
        subtrees = b"".join(tree.append(digest)).hex()
        rows.append(Row(seq, text, prev, leaf, subtrees, time, *columns(_DECISION)))
    places = ", ".join(["%s"] * len(Row._fields))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO audit_entry ({', '.join(Row._fields)}) VALUES ({places})", rows)
    entry.leaf, entry.stamp = leaf, rows[-1].stamp
    log._move_head(entry, tree.frontier())


def _around(text: str, *parts: str) -> list[str]:
    """Return what stands before, between and after `parts`, which `text` holds once each, in this order."""
    around = []
    for part in parts:
        before, _, text = text.partition(part)
        around.append(before)
    return [*around, text]


def _pages() -> dict[str, float]:
    """Return how many seconds a page of the log takes, in the middle of ASKED, for each way of filtering it."""
    from review.audit.actions import Action, Ending
    from review.audit.models import Entry
    from review.audit.queries import Filters, Scope, page

    early = [entry.time for entry in Entry.objects.filter(seq__in=(1_000, 6_000)).order_by("seq")]
    scope = Scope((UUID(_IDS[2]),), (UUID(_IDS[0]),))
    asked = {
        "newest": Filters(),
        "person": Filters(person=UUID(_IDS[0])),
        "agent": Filters(agent=UUID(_IDS[4])),
        "action": Filters(action=Action.DECISION_APPROVED),
        "approved": Filters(ending=Ending.APPROVED),
        "refused": Filters(ending=Ending.REFUSED),
        "tool": Filters(tool="none"),
        "long ago": Filters(since=early[0], until=early[1]),
    }
    return {name: median(_seconds(partial(page, scope, filters))) for name, filters in asked.items()}


def _once() -> dict[str, float]:
    """Return how many seconds it takes to append one entry, and to prove the oldest one, in the middle of ASKED."""
    from review.audit.log import sign_checkpoint
    from review.audit.models import Entry
    from review.audit.proof_files import entry_is_in

    sign_checkpoint()
    first = Entry.objects.get(seq=1)
    return {"append": median(_seconds(_record)), "proof": median(_seconds(partial(entry_is_in, first)))}


def _record() -> None:
    from review.audit.actions import Action
    from review.audit.actors import SYSTEM
    from review.audit.log import record
    from review.audit.transaction import write

    with write():
        record(Action.AUDIT_VERIFIED, actor=SYSTEM)


def _seconds(ask: Callable[[], object]) -> list[float]:
    """Return how much computing each of ASKED calls took: a busy machine does not count."""
    took = []
    for _ in range(ASKED):
        start = time.process_time()
        ask()
        took.append(time.process_time() - start)
    return took


def _measure() -> dict[str, float]:
    """Return what verifying costs against fetching, both in computing, and how many MB of memory it adds."""
    from review.audit.models import Head
    from review.audit.verify import verify
    from review.audit.walk import chunks

    size = Head.objects.get().size
    shares, before = [], _memory()
    for _ in range(ROUNDS):
        start = time.process_time()
        for _rows in chunks(0, size):
            pass
        fetched = time.process_time()
        report = verify()
        shares.append((time.process_time() - fetched) / (fetched - start))
        assert (report.stop, report.fault_count) == (size, 0), report
    return {"ratio": median(shares), "growth": _memory() - before}


def _memory() -> float:
    """The most that this program has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]))
