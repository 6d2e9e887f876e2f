"""The queue of a million: its first page against that of ten thousand, in every view."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from tests.bench.copies import columns_of, copied
from tests.bench.rounds import ROUNDS, row
from tests.bench.server import Posting, Reviewer, timed
from tests.support.console import Console

SMALL, LARGE = 10_000, 1_000_000
PENDING = 10  # one in so many waits, the others are over
OPENED = 5  # times a view is opened in a round
VIEWS = ("mine", "others", "returned", "unrun", "decided")
WITH_A_REVISION = 2_000  # newest of each kind: what a page can show


@row("first page of the queue at a million proposals against ten thousand, p50, the worst view", must=1.2)
def queue_page() -> float:
    with ExitStack() as stack:
        small, large = (stack.enter_context(Console()) for _ in range(2))
        readers = [_reader(small, SMALL), _reader(large, LARGE)]
        return max(_ratio(*readers, path=f"/?view={view}") for view in VIEWS)


def _ratio(small: Reviewer, large: Reviewer, *, path: str) -> float:
    shares = []
    for _ in range(ROUNDS):
        times = [(timed(lambda: small.open(path)), timed(lambda: large.open(path))) for _ in range(OPENED)]
        shares.append(median(many for _, many in times) / median(few for few, _ in times))
    return median(shares)


def _reader(console: Console, count: int) -> Reviewer:
    model = Posting(console.agent())()
    fill(console.folder / "huqan.sqlite3", model.replace("-", ""), count)
    return Reviewer(console, "alice")


def fill(path: Path, model: str, count: int) -> None:
    """Put `count` copies of the proposal with the id `model` beside it: past the console, as only a bench may."""
    over = f"n % {PENDING} > 0"
    changed = {
        "status": f"CASE WHEN {over} THEN 'executed' ELSE 'pending' END",
        "decided_at": f"CASE WHEN {over} THEN datetime('now', printf('-%d seconds', n % 900000)) END",
        "expires_at": "datetime('now', printf('+%d seconds', 3600 + n % 500000))",
        "risk_rank": "n / 10 % 3",
    }
    with closing(sqlite3.connect(path)) as database, database:
        copied(database, "review_proposal", model, count, changed)
        for status, order in (("pending", "risk_rank DESC, expires_at"), ("executed", "decided_at DESC")):
            _lay(database, model, status, order)
        database.execute("ANALYZE")


def _lay(database: sqlite3.Connection, model: str, status: str, order: str) -> None:
    """Give the first of the proposals in a state the revision of the model."""
    columns = columns_of(database, "review_revision")
    changed = {"id": "chosen.id", "proposal_id": "chosen.id"}
    values = ", ".join(changed.get(column, f"model.{column}") for column in columns)
    database.execute(
        f"INSERT INTO review_revision ({', '.join(columns)}) SELECT {values} FROM (SELECT id FROM review_proposal"
        f" WHERE status = '{status}' AND id NOT IN (SELECT proposal_id FROM review_revision)"
        f" ORDER BY {order} LIMIT {WITH_A_REVISION}) chosen"
        f" JOIN review_revision model ON model.proposal_id = '{model}'"
    )
