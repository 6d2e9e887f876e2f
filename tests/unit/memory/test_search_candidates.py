"""Above many records the answers are the same to the last bit, and an index that fails is said to have failed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.search import CandidateEngine, EmbeddedEngine, Mode, answer, candidates, search
from tests.support.records import ACME, GLOBEX, IndexedInMemory, RecordsInMemory, row

WORDS = st.sampled_from(
    ["port", "staging", "redis", "keys", "deploying", "Friday", "backup", "7443", "the", "İstanbul"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=10).map(" ".join)
CONTENTS = st.lists(TEXTS, max_size=30)
LIMITS = st.none() | st.integers(1, 12)


@pytest.fixture(autouse=True, scope="module")
def small_steps():
    """Let a few records be as many steps as many thousand are."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"FIRST_LOOK": 2, "GROWTH": 2, "CHUNK": 3}.items():
            patch.setattr(candidates, name, value)
        yield


@pytest.fixture
def many(monkeypatch):
    """Let three records be too many for the embedded engine."""
    monkeypatch.setattr(answer, "_embedded", EmbeddedEngine(most_records=2))


def corpus_of(contents, kind=IndexedInMemory):
    return kind(*(row(number, content) for number, content in enumerate(contents)))


@settings(deadline=None, max_examples=50)
@given(CONTENTS, TEXTS, st.sampled_from(Mode), LIMITS)
def test_an_agent_gets_the_same_answer_to_the_last_bit_from_either_engine(contents, query, mode, limit):
    corpus = corpus_of(contents)
    by_index = search(corpus, ACME, query, mode, limit, engine=CandidateEngine("fts5"))
    assert by_index.hits == search(corpus, ACME, query, mode, limit, engine=EmbeddedEngine()).hits
    assert by_index.engine == "fts5"


@settings(deadline=None, max_examples=50)
@given(CONTENTS, LIMITS)
def test_an_empty_query_by_recency_gives_everything_from_either_engine(contents, limit):
    corpus = corpus_of(contents)
    by_index = search(corpus, ACME, "", Mode.RECENCY, limit, engine=CandidateEngine("fts5"))
    assert by_index.hits == search(corpus, ACME, "", Mode.RECENCY, limit, engine=EmbeddedEngine()).hits


@settings(deadline=None, max_examples=50)
@given(CONTENTS, CONTENTS, TEXTS)
def test_the_weight_of_common_terms_is_not_kept_past_a_change(contents, more, query):
    corpus, engine = corpus_of(contents), CandidateEngine("fts5")
    search(corpus, ACME, query, engine=engine)
    corpus.add(*(row(1000 + number, content) for number, content in enumerate(more)))
    assert (
        search(corpus, ACME, query, engine=engine).hits
        == search(corpus, ACME, query, engine=EmbeddedEngine()).hits
    )


@settings(deadline=None, max_examples=50)
@given(CONTENTS, CONTENTS, TEXTS)
def test_records_of_another_workspace_change_no_score_by_a_bit(contents, foreign, query):
    corpus, engine = corpus_of(contents), CandidateEngine("fts5")
    alone = search(corpus, ACME, query, engine=engine)
    corpus.add(*(row(1000 + number, content) for number, content in enumerate(foreign)), scope=GLOBEX)
    search(corpus, GLOBEX, query, engine=engine)
    assert search(corpus, ACME, query, engine=engine) == alone


def test_common_words_are_not_looked_up_where_they_cannot_change_the_answer():
    corpus = corpus_of([*["port 7443"] * 3, *["port backup"] * 15, *["redis key"] * 22])
    hits = search(corpus, ACME, "port 7443", limit=3, engine=CandidateEngine("fts5")).hits
    assert [hit.id.int for hit in hits] == [0, 1, 2]
    assert corpus.asked == [{"7443"}]


def test_common_words_are_looked_up_where_they_can():
    corpus = corpus_of([*["port 7443"] * 3, *["port backup"] * 15, *["redis key"] * 22])
    assert len(search(corpus, ACME, "port 7443", limit=4, engine=CandidateEngine("fts5")).hits) == 4
    assert corpus.asked[0] == {"7443"}
    assert "port" in set().union(*corpus.asked[1:])


@pytest.mark.usefixtures("many")
def test_the_number_of_records_decides_who_answers():
    corpus = corpus_of(["port", "key"])
    assert search(corpus, ACME, "port").engine == "embedded"
    corpus.add(row(3, "port"))
    now = search(corpus, ACME, "port")
    assert (now.engine, now.degraded, len(now.hits)) == ("fts5", (), 2)


@pytest.mark.usefixtures("many")
def test_an_index_that_fails_is_named_and_the_answer_is_whole():
    corpus = corpus_of(["port", "key", "port"])
    corpus.broken = True
    said = search(corpus, ACME, "port")
    assert (said.engine, said.degraded, len(said.hits)) == ("embedded", ("fts5",), 2)
    corpus.broken = False
    assert search(corpus, ACME, "port").degraded == ()


@pytest.mark.usefixtures("many")
def test_records_without_an_index_are_read_however_many_they_are():
    said = search(corpus_of(["port", "key", "port"], RecordsInMemory), ACME, "port")
    assert (said.engine, said.degraded, len(said.hits)) == ("embedded", (), 2)
