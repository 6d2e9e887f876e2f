"""A large memory in a scratch database, and the questions that are timed there, in a process of its own.

`python -m tests.bench.memories NAME` prints the number that the row NAME of the table shows. `writer` is the other
process of those rows: for each line it reads it remembers a text, or retracts one, commits, and answers.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.bench.rounds import ROUNDS
from tests.support import environment

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from tests.support.factories import Team

SEED = 20_261_201
VOCABULARY = 20_000
QUESTIONS = 60
START = datetime(2026, 1, 1, tzinfo=UTC)
LIKE_OURS = "tokenize='porter unicode61'"


class Memory:
    """Records of made-up words, as frequent as words are (Zipf), and questions out of them; the same each time."""

    def __init__(self, team: Team) -> None:
        from review.services.propose import Draft, propose

        self.team, self._random, self._number = team, random.Random(SEED), count()
        draft = Draft("memory.write", {"content": "A base.", "provenance": {"kind": "user", "ref": "bench"}})
        self._proposal = propose(draft, by=team.scout).proposal
        self._words = ["".join(self._random.choices("abdeghiklmnoprstuvyz", k=7)) for _ in range(VOCABULARY)]
        self._weights = [1 / (rank + 2) for rank in range(VOCABULARY)]

    def fill(self, how_many: int, **standing: Any) -> None:
        """Store so many records, trusted and active in acme unless `standing` says otherwise."""
        from memory.models import MemoryRecord

        rows = (self.record(**standing) for _ in range(how_many))
        MemoryRecord.objects.bulk_create(rows, batch_size=500)

    def record(self, content: str | None = None, **standing: Any) -> MemoryRecord:
        """Return one record that is not stored yet."""
        from memory.domain.tokens import TOKENIZER_VERSION, tokenise
        from memory.models import MemoryRecord

        number, content = next(self._number), content or self._sentence(self._random.randint(8, 24))
        at = START + timedelta(seconds=number)
        columns = {
            "workspace": self.team.acme,
            "trust": "trusted",
            "lifecycle": "active",
            "provenance": {"kind": "user", "ref": "bench"},
            "recorded_at": at,
            "trusted_at": at,
        }
        return MemoryRecord(
            proposal=self._proposal,
            content=content,
            lang="en",
            tokens=" ".join(tokenise(content, "en")),
            tokenizer=TOKENIZER_VERSION,
            value_key=f"{os.getpid():x}-{number:x}",
            value_key_id="bench",
            **{**columns, **standing},
        )

    def questions(self) -> list[str]:
        """Return questions of two to five words, the common ones as often as in texts."""
        return [self._sentence(self._random.randint(2, 5)) for _ in range(QUESTIONS)]

    def _sentence(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words))


@contextmanager
def memory() -> Iterator[Memory]:
    """Make the tables of the scratch database and give an empty memory with its people."""
    from django.core.management import call_command

    from tests.support import factories

    call_command("migrate", verbosity=0)
    yield Memory(factories.team())


def set_up() -> None:
    """Start Django on whatever data folder the environment names."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "huqan_site.settings"
    django.setup()


def recall_at(scope: UUID, query: str) -> list[UUID]:
    """Ask as an agent does, verdicts and all."""
    from django.utils import timezone

    from memory.queries.recall import Question, recall
    from memory.queries.verdicts import Moment

    found = recall(scope, Question(query), Moment(timezone.now()))
    return [hit.judged.record.id for hit in found.hits]


# The rows.


def query() -> float:
    """p95 of a whole query at 100,000 records, 8,000 of them eligible, against FTS5 with a join to the same rows."""
    with memory() as here:
        scope, now = here.team.acme.id, START + timedelta(days=90)
        here.fill(8_000)
        here.fill(31_000, workspace=here.team.globex)
        here.fill(40_000, lifecycle="retracted", retired_at=now)
        here.fill(21_000, trust="quarantined", trusted_at=None, lifecycle="discarded", retired_at=now)
        index_everything()
        return turns(
            here.questions(), lambda asked: recall_at(scope, asked), lambda asked: joined(scope, asked), p95
        )


def index_everything() -> None:
    """What one would do without us: one FTS5 table over all records."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"CREATE VIRTUAL TABLE everything USING fts5(content, content='', {LIKE_OURS})")
        cursor.execute(
            "INSERT INTO everything (rowid, content) SELECT rowid, content FROM memory_memoryrecord"
        )
        cursor.execute("INSERT INTO everything (everything) VALUES ('optimize')")


def joined(scope: UUID, asked: str) -> list[Any]:
    """The first ten by FTS5's own score that are eligible."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.id, r.content, bm25(everything) AS score FROM everything e"
            " JOIN memory_memoryrecord r ON r.rowid = e.rowid WHERE everything MATCH %s AND r.workspace_id = %s"
            " AND r.trust = 'trusted' AND r.lifecycle = 'active' ORDER BY score, r.id LIMIT 10",
            [" OR ".join(f'"{word}"' for word in asked.split()), scope.hex],
        )
        return cursor.fetchall()


def scores() -> float:
    """The largest difference of a score from BM25Okapi's on the 8,000 eligible of 20,000 records, by any engine."""
    from rank_bm25 import BM25Okapi

    from memory.domain.tokens import query_terms
    from memory.models import MemoryRecord
    from memory.queries.corpus import Present
    from memory.search import CandidateEngine, EmbeddedEngine, search

    with memory() as here:
        scope = here.team.acme.id
        here.fill(8_000)
        here.fill(8_000, workspace=here.team.globex)
        here.fill(4_000, lifecycle="retracted", retired_at=START + timedelta(days=90))
        tokens = dict(MemoryRecord.objects.recallable(scope).order_by("id").values_list("id", "tokens"))
        library, places = (
            BM25Okapi([its.split() for its in tokens.values()]),
            {id_: at for at, id_ in enumerate(tokens)},
        )
        worst = 0.0
        for asked in here.questions():
            theirs = library.get_scores(query_terms(asked))
            for engine in (EmbeddedEngine(), CandidateEngine(Present().index)):
                for hit in search(Present(), scope, asked, limit=None, engine=engine).hits:
                    worst = max(worst, abs(hit.score - theirs[places[hit.id]]))
        return worst


def engines() -> float:
    """p50 of a search by the index against the embedded engine, warm, at 40,000 eligible records."""
    from memory.queries.corpus import Present
    from memory.queries.snapshot import one_moment
    from memory.search import CandidateEngine, EmbeddedEngine, search

    with memory() as here:
        here.fill(40_000)
        scope, by_index, embedded = here.team.acme.id, CandidateEngine(Present().index), EmbeddedEngine()

        def ask(engine: Any) -> Callable[[str], object]:
            def asked(query: str) -> object:
                with one_moment():
                    return search(Present(), scope, query, engine=engine)

            return asked

        return turns(here.questions(), ask(by_index), ask(embedded), median)


def after_an_append() -> float:
    """The first query after another process remembered something, against the p50 of one where nothing changed."""
    with memory() as here, writer() as told:
        scope = here.team.acme.id
        here.fill(8_000)
        asked = here.questions()
        recall_at(scope, asked[0])
        shares = []
        for turn in range(ROUNDS):
            warm = median(seconds_of(recall_at, scope, one) for one in asked)
            first = []
            for number, one in enumerate(asked):
                told(f"remember zz{turn}x{number} {one}")
                first.append(seconds_of(recall_at, scope, one))
            shares.append(median(first) / warm)
        return median(shares)


def stale() -> float:
    """Of 1,000 answers just after another process committed, how many did not show what it had done."""
    with memory() as here, writer() as told:
        scope, wrong = here.team.acme.id, 0
        here.fill(2_000)
        for number in range(500):
            id_ = UUID(told(f"remember zz{number}x"))
            wrong += recall_at(scope, f"zz{number}x") != [id_]
            told(f"retract {id_}")
            wrong += recall_at(scope, f"zz{number}x") != []
        return float(wrong)


ROWS = {row.__name__: row for row in (query, scores, engines, after_an_append, stale)}


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=100)[94]


def seconds_of(call: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def turns(
    asked: Sequence[str],
    ours: Callable[[str], object],
    theirs: Callable[[str], object],
    of: Callable[[Sequence[float]], float],
) -> float:
    """Return how many times as long `ours` takes for the same questions: the median over rounds that alternate."""
    for one in asked:
        ours(one), theirs(one)
    return median(
        of([seconds_of(ours, one) for one in asked]) / of([seconds_of(theirs, one) for one in asked])
        for _ in range(ROUNDS)
    )


@contextmanager
def writer() -> Iterator[Callable[[str], str]]:
    """Run the other process on the same database; give a function that tells it something and returns its answer."""
    command = [sys.executable, "-m", "tests.bench.memories", "writer"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin and other.stdout

        def told(line: str) -> str:
            print(line, file=other.stdin, flush=True)
            return other.stdout.readline().strip()  # type: ignore[union-attr]

        yield told
        other.stdin.close()


def write() -> None:
    """Be the other process."""
    from django.utils import timezone

    from memory.models import MemoryRecord

    for line in sys.stdin:
        what, rest = line.strip().split(" ", 1)
        if what == "remember":
            print(_remember(rest), flush=True)
        else:
            gone = {"lifecycle": "retracted", "retired_at": timezone.now()}
            print(MemoryRecord.objects.filter(id=rest).update(**gone), flush=True)


def _remember(content: str) -> UUID:
    """Store one more record like the first one."""
    from huqan_site.lib.ids import new_id
    from memory.domain.tokens import tokenise
    from memory.models import MemoryRecord

    record = MemoryRecord.objects.order_by("id")[0]
    record.pk, record.content, record.tokens = new_id(), content, " ".join(tokenise(content, "en"))
    record.value_key = str(record.pk)
    record.save(force_insert=True)
    return record.pk


if __name__ == "__main__":
    name = sys.argv[1]
    if name == "writer":
        set_up()
        write()
    else:
        environment.make_private()  # the other process shares it by the variables it inherits
        set_up()
        print(ROWS[name]())
