"""Is the log what it was? A walk over every entry, checkpoint and state, in flat memory.

`ok` is said of a whole log only: a part, however good, cannot be judged.

    register_replay("decisions", decisions_have_entries)   # in review: one sentence for each that has none
    report = verify()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import NamedTuple

from django.utils import timezone

from review.audit.findings import Fault, Findings, Kind, Outcome, Report
from review.audit.models import Entry, Head
from review.audit.walk import Walk, chunks

__all__ = ["Fault", "Kind", "Outcome", "Replay", "Report", "register_replay", "verify"]

#: Goes through one kind of state and yields, for each, None where it has its entry, else a sentence.
Replay = Callable[[], Iterable[str | None]]

Progress = Callable[[int, int], None]

_replays: dict[str, Replay] = {}


def register_replay(name: str, replay: Replay) -> None:
    """Let every whole verification run `replay`: no decision, permit or record without its entry."""
    _replays[name] = replay


def verify(
    *,
    first: int = 0,
    stop: int | None = None,
    budget: timedelta | None = None,
    progress: Progress | None = None,
) -> Report:
    """Walk the log from entry `first` up to and without `stop` (its end), for at most `budget`.

    Writers are not kept waiting: what they append meanwhile is left to the next walk. Writes nothing. `progress`
    is told now and then how many entries were walked, and of how many.

    Raises: django.db.DatabaseError where the database cannot be read.
    """
    findings = Findings()
    head = Head.objects.first()
    if head is None:
        return _without_head(findings)
    walk = Walk(head.log, first, findings)
    end = head.size if stop is None else min(stop, head.size)
    _go(walk, first, end, budget, progress)
    if first == 0 and walk.next == head.size:
        _compare_end(walk, head, findings)
        states = _replay(findings)
    else:
        walk.claims.settle()
        states = _States(0, 0)
        findings.doubt(f"Only entries {first} to {walk.next - 1} of {head.size} were walked.")
    return _report(findings, first, walk.next, head.size, states, walk.claims.witnessed)


class _States(NamedTuple):
    replayed: int
    agreeing: int


def _go(walk: Walk, first: int, end: int, budget: timedelta | None, progress: Progress | None) -> None:
    deadline = None if budget is None else time.monotonic() + budget.total_seconds()
    for rows in chunks(first, end):
        if deadline is not None and time.monotonic() > deadline:
            return
        walk.chunk(rows)
        if progress is not None:
            progress(walk.next, end)
    walk.finish(end)


def _compare_end(walk: Walk, head: Head, findings: Findings) -> None:
    """Hold the end of the walk against the head row, the rows beyond it and the longest checkpoint."""
    walk.claims.exhaust()
    longest = walk.claims.settle()
    last = Entry.objects.order_by("-seq").values_list("seq", flat=True).first()
    now = Head.objects.values_list("size", flat=True).first() or 0  # after both, since writers go on
    if longest > now:
        findings.fault(
            Kind.MISSING,
            now,
            f"Entries {now} to {longest - 1} are missing: a signed checkpoint knows {longest} entries.",
        )
    if last is not None and last >= now:
        findings.fault(
            Kind.EDITED, now, f"Entry {now} stands after the end of the log that the head row knows."
        )
    tree = walk.tree and walk.tree.frontier().text()
    if (walk.leaf or head.leaf, tree or head.frontier) != (head.leaf, head.frontier):
        findings.fault(Kind.EDITED, head.size - 1, f"The head row does not continue entry {head.size - 1}.")


def _replay(findings: Findings) -> _States:
    """Run every replay; what one finds counts if it is found once more, since somebody may write meanwhile."""
    replayed = agreeing = 0
    for name, replay in _replays.items():
        count, wrong = _run(replay)
        if wrong:
            still = set(_run(replay)[1])
            wrong = [sentence for sentence in wrong if sentence in still]
        replayed, agreeing = replayed + count, agreeing + count - len(wrong)
        for sentence in wrong:
            findings.fault(Kind.STATE, None, f"{name}: {sentence}")
    return _States(replayed, agreeing)


def _run(replay: Replay) -> tuple[int, list[str]]:
    """How many states were replayed, and what is wrong with some of them."""
    count, wrong = 0, []
    for sentence in replay():
        count += 1
        if sentence is not None:
            wrong.append(sentence)
    return count, wrong


def _without_head(findings: Findings) -> Report:
    findings.doubt("There is no log in this database. Run manage.py migrate.")
    return _report(findings, 0, 0, 0, _States(0, 0), 0)


def _report(findings: Findings, first: int, stop: int, size: int, states: _States, checkpoint: int) -> Report:
    return Report(
        first=first,
        stop=stop,
        size=size,
        faults=tuple(findings.faults),
        fault_count=findings.count,
        doubts=tuple(findings.doubts),
        states=states.replayed,
        states_agreeing=states.agreeing,
        checkpoint=checkpoint,
        finished=timezone.now(),
    )
