"""What an agent can read of its workspace's memory. Everything it sees passes through here, and is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from memory.domain.tokens import Language
from memory.models import MemoryRecord
from memory.queries.corpus import Past, Present, outlived
from memory.queries.snapshot import one_moment
from memory.queries.verdicts import Judged, Moment, judge
from memory.search import Answer, Corpus, Hit, Mode, search
from review.domain.refusals import NotFound


@dataclass(frozen=True)
class Question:
    """What is asked of memory. `limit` is an upper bound that holds after everything."""

    query: str
    mode: Mode = Mode.BM25
    limit: int = 10
    lang: Language | None = None


class Found(NamedTuple):
    """A judged hit and the score that its mode gave it."""

    judged: Judged
    score: float | None


class Recalled(NamedTuple):
    """What was found, best first; which engine and mode ran; which arms did not."""

    hits: list[Found]
    withheld: list[Found]
    mode: Mode
    engine: str
    degraded: tuple[str, ...]


def recall(scope: UUID, question: Question, moment: Moment) -> Recalled:
    """Return at most `question.limit` hits of this workspace that are not withheld, and those that were on the way.

    Index, scores, rows and verdicts are of one moment. Raises: EmptyQuery, QueryTooLong.
    """
    with one_moment():
        return _recall(scope, question, moment)


def _recall(scope: UUID, question: Question, moment: Moment) -> Recalled:
    answer = _search(scope, question, moment, question.limit)
    found = _judged(scope, answer.hits, moment)
    if any(hit.judged.withheld for hit in found):  # rare: look further, so that they cost no place
        found = list(_until_full(scope, _search(scope, question, moment, None).hits, question.limit, moment))
    shown = [hit for hit in found if not hit.judged.withheld][: question.limit]
    withheld = [hit for hit in found if hit.judged.withheld]
    return Recalled(shown, withheld, answer.mode, answer.engine, answer.degraded)


def _until_full(scope: UUID, hits: Sequence[Hit], limit: int, moment: Moment) -> Iterator[Found]:
    """Judge `hits`, `limit` at a time, until so many of them are not withheld."""
    room = limit
    for start in range(0, len(hits), limit):
        batch = _judged(scope, hits[start : start + limit], moment)
        yield from batch
        room -= sum(not hit.judged.withheld for hit in batch)
        if room <= 0:
            return


def record_for_agent(scope: UUID, id_: UUID, moment: Moment) -> Judged:
    """Return one record as `recall` would give it.

    Raises: NotFound, in the same words for one that is withheld, in quarantine, of another workspace, or nowhere.
    """
    record = _recallable(scope, moment).filter(id=id_).first()
    if record is None:
        raise NotFound
    judged = judge(scope, [record], moment)[0]
    if judged.withheld:
        raise NotFound
    return judged


def item(judged: Judged, score: float | None = None) -> dict[str, Any]:
    """Return a record as agents get it: ids as text, times RFC 3339 in UTC."""
    record, verdict = judged.record, judged.verdict
    return {
        "id": str(record.id),
        "content": record.content,
        "subject": record.subject,
        "predicate": record.predicate,
        "score": score,
        "verdict": {"decision": verdict.decision.value, "reasons": list(verdict.reasons)},
        "provenance": record.provenance,
        "confidence": record.confidence,
        "valid_from": rfc3339(record.valid_from),
        "valid_to": rfc3339(record.valid_to),
        "recorded_at": rfc3339(record.recorded_at),
        "expires_at": rfc3339(record.expires_at),
        "supersedes": str(record.supersedes_id) if record.supersedes_id else None,
        "proposal": str(record.proposal_id),
    }


def _search(scope: UUID, question: Question, moment: Moment, limit: int | None) -> Answer:
    return search(_corpus(scope, moment), scope, question.query, question.mode, limit, question.lang)


def _corpus(scope: UUID, moment: Moment) -> Corpus:
    """What there is to search; only where it is not what may be recalled now does it take reading the records."""
    if moment.known_at or (moment.as_of and outlived(scope, moment.as_of)):
        return Past(moment.known_at, moment.as_of)
    return Present()


def _judged(scope: UUID, hits: Sequence[Hit], moment: Moment) -> list[Found]:
    """Judge `hits` from their rows, in their order; one that has gone since the index was read is left out."""
    rows = _recallable(scope, moment).in_bulk([hit.id for hit in hits])
    present = [hit for hit in hits if hit.id in rows]
    judged = judge(scope, [rows[hit.id] for hit in present], moment)
    return [Found(one, hit.score) for one, hit in zip(judged, present, strict=True)]


def _recallable(scope: UUID, moment: Moment) -> Any:
    return MemoryRecord.objects.recallable(scope, moment.known_at, moment.as_of)


def rfc3339(time: datetime | None) -> str | None:
    """Return a time as agents and files get it: RFC 3339, in UTC with Z."""
    return None if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
