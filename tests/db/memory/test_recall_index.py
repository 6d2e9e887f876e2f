"""Above many records the database's own index answers: the same to the last bit, and never behind the records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations import Migration
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from huqan_site.lib.ids import new_id
from memory import recall_index
from memory.domain.tokens import TOKENIZER_VERSION, query_terms, tokenise
from memory.models import MemoryRecord, RecallEpoch, RecallTerm
from memory.queries.corpus import Present
from memory.queries.recall import Question, recall
from memory.queries.verdicts import Moment
from memory.search import Answer, CandidateEngine, EmbeddedEngine, EmptyQuery, Mode, answer, search
from review.access.actors import AgentActor
from review.access.models import Workspace
from tests.support.factories import Team
from tests.support.memory_acts import approve, doubtful, known, remember

PORT = "The staging port is 7443."
BY_INDEX = {"sqlite": "fts5", "postgresql": "postgres"}
WORDS = st.sampled_from(
    ["port", "staging", "redis", "keys", "deploying", "İstanbul'da", "7443", "v1.2", "ışık"]
)
CONTENTS = st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), max_size=12)
ASKED = st.lists(WORDS | st.just("unheard"), min_size=1, max_size=4).map(" ".join)
few = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def by_index(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let one record be too many for the embedded engine; return the name of the one that answers then."""
    monkeypatch.setattr(answer, "_embedded", EmbeddedEngine(most_records=0))
    return BY_INDEX[connection.vendor]


@pytest.fixture
def base(team: Team) -> MemoryRecord:
    """A record of acme's, made as records are."""
    return known(team.scout, PORT, team.alice)


@contextmanager
def undone() -> Iterator[None]:
    """Take back what is written inside, so that the next example begins alike."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def store(like: MemoryRecord, contents: list[str], **columns: Any) -> list[MemoryRecord]:
    """Store records like one that is there, saying `contents`."""
    now = timezone.now()
    rows = [
        MemoryRecord(
            **{
                "workspace": like.workspace,
                "proposal": like.proposal,
                "content": content,
                "lang": "en",
                "tokens": " ".join(tokenise(content, "en")),
                "tokenizer": TOKENIZER_VERSION,
                "trust": "trusted",
                "lifecycle": "active",
                "value_key": str(new_id()),
                "value_key_id": "k",
                "recorded_at": now,
                "trusted_at": now,
                **columns,
            }
        )
        for content in contents
    ]
    return MemoryRecord.objects.bulk_create(rows)


def ask(scope: Workspace, query: str, *, mode: Mode = Mode.BM25, limit: int | None = None) -> Answer:
    """Ask the database's index, and see that the other engine says the same."""
    by_index = search(Present(), scope.id, query, mode, limit, engine=CandidateEngine(Present().index))
    assert by_index.hits == search(Present(), scope.id, query, mode, limit, engine=EmbeddedEngine()).hits
    return by_index


def kept() -> tuple[Any, ...]:
    """What the database keeps for the search, without the epochs."""
    return (
        sorted(RecallTerm.objects.values_list("workspace_id", "term", "records")),
        sorted(
            RecallEpoch.objects.filter(records__gt=0).values_list(
                "workspace_id", "records", "words", "tokenizer"
            )
        ),
    )


@few
@given(contents=CONTENTS, query=ASKED, mode=st.sampled_from(Mode), limit=st.none() | st.integers(1, 5))
def test_both_engines_give_an_agent_the_librarys_scores(
    team: Team, base: MemoryRecord, contents: list[str], query: str, mode: Mode, limit: int | None
) -> None:
    with undone():
        store(base, contents)
        hits = ask(team.acme, query, mode=mode, limit=limit).hits
        rows = MemoryRecord.objects.recallable(team.acme.id).order_by("id")
        tokens = {row.id: row.tokens.split() for row in rows}
        theirs = dict(
            zip(tokens, BM25Okapi(list(tokens.values())).get_scores(query_terms(query)), strict=True)
        )
        if mode is Mode.BM25:
            assert all(abs((hit.score or 0) - theirs[hit.id]) < 1e-9 for hit in hits)


@few
@given(contents=CONTENTS, others=CONTENTS, query=ASKED)
def test_what_is_foreign_untrusted_or_retired_changes_no_score_by_a_bit(
    team: Team, base: MemoryRecord, contents: list[str], others: list[str], query: str
) -> None:
    with undone():
        now = timezone.now()
        store(base, contents)
        alone = ask(team.acme, query)
        store(base, others, workspace=team.globex)
        store(base, others, trust="quarantined", trusted_at=None, lifecycle="discarded", retired_at=now)
        store(base, others[:1], trust="quarantined", trusted_at=None)
        store(base, others, lifecycle="retracted", retired_at=now)
        assert ask(team.acme, query) == alone


@few
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "retire", "restore", "hold", "reword", "remove"]), ASKED),
        max_size=8,
    )
)
def test_through_any_changes_by_any_door_the_index_is_that_of_the_records(
    team: Team, base: MemoryRecord, changes: list[Any]
) -> None:
    with undone():
        for what, text in changes:
            _change(base, what, text)
            ask(team.acme, text)
        by_triggers = kept()
        recall_index.fill(connection)
        assert by_triggers == kept()
        ask(team.acme, "port staging redis")


def _change(base: MemoryRecord, what: str, text: str) -> None:
    """Change the oldest record but one, past every use case."""
    now = timezone.now()
    rows = MemoryRecord.objects.filter(
        id__in=MemoryRecord.objects.exclude(id=base.id).order_by("id").values("id")[:1]
    )
    if what == "add":
        store(base, [text])
    elif what == "remove":
        rows.delete()
    elif what == "reword":
        rows.update(content=text, tokens=" ".join(tokenise(text, "en")))
    else:
        standing = {
            "retire": {"lifecycle": "archived", "retired_at": now},
            "restore": {"lifecycle": "active", "retired_at": None, "trust": "trusted"},
            "hold": {"trust": "quarantined"},
        }
        rows.update(**standing[what])


def recalled_by(agent: AgentActor, query: str) -> Any:
    return recall(agent.agent.workspace_id, Question(query), Moment(timezone.now()))


def test_an_agent_is_told_which_engine_answered(team: Team, by_index: str) -> None:
    known(team.scout, PORT, team.alice)
    found = recalled_by(team.scout, "staging ports")
    assert [hit.judged.record.content for hit in found.hits] == [PORT]
    assert (found.engine, found.degraded) == (by_index, ())


def test_what_is_released_is_found_and_what_is_held_is_not(team: Team, by_index: str) -> None:
    known(team.scout, "Backups run at night.", team.alice)
    proposal = doubtful(team.scout, PORT)
    assert recalled_by(team.scout, "staging port").hits == []
    approve(proposal, team.alice, team.carol)
    assert len(recalled_by(team.scout, "staging port").hits) == 1


@pytest.mark.usefixtures("by_index")
def test_a_read_of_the_past_needs_no_index(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    then = timezone.now()
    MemoryRecord.objects.filter(id=record.id).update(lifecycle="retracted", retired_at=timezone.now())
    found = recall(team.acme.id, Question("port"), Moment(timezone.now(), known_at=then))
    assert [hit.judged.record.id for hit in found.hits] == [record.id]
    assert (found.engine, found.degraded) == ("embedded", ())
    assert recalled_by(team.scout, "port").hits == []


def test_an_index_that_is_gone_is_said_to_have_failed_until_it_is_rebuilt(team: Team, by_index: str) -> None:
    known(team.scout, PORT, team.alice)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_recallterm RENAME TO elsewhere")
    found = recalled_by(team.scout, "port")
    assert (len(found.hits), found.engine, found.degraded) == (1, "embedded", (by_index,))
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE elsewhere RENAME TO memory_recallterm")
    assert recalled_by(team.scout, "port").degraded == ()


def test_an_index_of_an_older_tokenizer_is_not_asked_until_it_is_rebuilt(team: Team, by_index: str) -> None:
    record = known(team.scout, PORT, team.alice)
    MemoryRecord.objects.filter(id=record.id).update(tokens="harbour", tokenizer=TOKENIZER_VERSION - 1)
    found = recalled_by(team.scout, "port")
    assert (len(found.hits), found.degraded) == (1, (by_index,))
    said = io.StringIO()
    call_command("rebuild_index", stdout=said)
    assert "1 record" in said.getvalue()
    found = recalled_by(team.scout, "port")
    assert (len(found.hits), found.engine, found.degraded) == (1, by_index, ())
    record.refresh_from_db()
    assert record.tokens == " ".join(tokenise(PORT, "en"))


def test_a_rebuilt_index_makes_every_server_drop_what_it_kept(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    before = Present().epoch(team.acme.id)
    call_command("rebuild_index", stdout=io.StringIO())
    assert Present().epoch(team.acme.id).number > before.number


def test_triggers_stand_aside_for_a_migration_of_memory_which_ends_in_a_whole_index(team: Team) -> None:
    others = [(Migration("0009_later", "review"), False)]
    recall_index.stand_aside(using="default", plan=others)
    assert recall_index.missing(connection) == []
    recall_index.stand_aside(using="default", plan=[*others, (Migration("0009_later", "memory"), False)])
    assert recall_index.missing(connection) != []
    known(team.scout, PORT, team.alice)
    connection.check_constraints()  # as the commit of every migration does
    recall_index.settle(using="default")
    assert recall_index.missing(connection) == []
    assert len(ask(team.acme, "port").hits) == 1


def test_a_word_of_a_hundred_thousand_letters_is_one_term(team: Team) -> None:
    long = "a" * 100_000
    known(team.scout, f"{long} is noise.", team.alice)
    assert len(ask(team.acme, long[:10_000]).hits) == 0
    assert len(ask(team.acme, "noise").hits) == 1


def test_no_stem_of_an_erased_text_stays_in_the_blocks_of_the_index(team: Team) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's VACUUM takes them out.")
    record = known(team.scout, "Zanzibarian port.", team.alice)
    assert b"zanzibar" in blocks()
    MemoryRecord.objects.filter(id=record.id).update(
        content="", tokens="", lifecycle="erased", retired_at=timezone.now()
    )
    assert b"zanzibar" not in blocks()
    assert not RecallTerm.objects.filter(term__contains="zanzibar").exists()


def blocks() -> bytes:
    with connection.cursor() as cursor:
        cursor.execute("SELECT block FROM memory_fts_data")
        return b"".join(block for (block,) in cursor.fetchall())


def test_a_long_question_is_answered(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    remember(team.scout, "Not decided.")
    assert len(ask(team.acme, " ".join(f"w{number}" for number in range(1_800)) + " port").hits) == 1


@pytest.mark.django_db(transaction=True)
def test_a_query_outside_a_transaction_ends_the_one_it_reads_in(team: Team, by_index: str) -> None:
    known(team.scout, PORT, team.alice)
    for query in ("staging port", "unheard"):
        assert recalled_by(team.scout, query).engine == by_index
    with pytest.raises(EmptyQuery):
        recalled_by(team.scout, " ")
    approve(remember(team.scout, "Another port."), team.alice)
    assert len(recalled_by(team.scout, "port").hits) == 2
