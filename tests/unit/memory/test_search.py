"""What an agent gets for a query, whatever else is stored."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory.domain.tokens import query_terms
from memory.search import LONGEST_QUERY, EmbeddedEngine, EmptyQuery, Mode, QueryTooLong, search
from tests.support.records import ACME, GLOBEX, RecordsInMemory, row

WORDS = st.sampled_from(
    ["port", "staging", "redis", "keys", "deploying", "Friday", "backup", "7443", "the", "İstanbul"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=10).map(" ".join)
CONTENTS = st.lists(TEXTS, max_size=20)
MODES = st.sampled_from(Mode)

STAGING = row(1, "The staging port is 7443.")
REDIS = row(2, "Redis keys expire after one day.")
ISTANBUL = row(3, "Sunucu İSTANBUL'da duruyor.")
BACKUP = row(4, "Backups of Redis\nrun on port 873.")
OLD_PORT = row(5, "The port of the staging server was 7000.", minutes=-10)
RECORDS = (STAGING, REDIS, ISTANBUL, BACKUP, OLD_PORT)


def ask(query, mode=Mode.BM25, limit=10, *, corpus=None, scope=ACME):
    corpus = RecordsInMemory(*RECORDS) if corpus is None else corpus
    return search(corpus, scope, query, mode, limit, engine=EmbeddedEngine())


def found(*args, **options):
    return [hit.id for hit in ask(*args, **options).hits]


def ids(*rows):
    return [row.id for row in rows]


def many(contents):
    return RecordsInMemory(*(row(number, content) for number, content in enumerate(contents)))


def test_the_best_match_comes_first_and_the_answer_says_what_ran():
    answer = ask("staging port 7443")
    assert [hit.id for hit in answer.hits] == ids(STAGING, OLD_PORT, BACKUP)
    assert (answer.engine, answer.mode, answer.degraded) == ("embedded", "bm25", ())


def test_a_query_in_capitals_without_turkish_letters_finds_the_turkish_record():
    assert found("istanbul") == found("ISTANBUL") == found("İstanbul’un") == ids(ISTANBUL)


def test_any_shared_term_is_enough():
    assert found("redis unheard-of") == found("redis")
    assert set(found("redis")) == {REDIS.id, BACKUP.id}


def test_a_record_that_shares_no_term_is_not_found():
    assert found("unheard") == []
    assert found("stag") == []
    assert found("stages") == ids(STAGING, OLD_PORT)


@pytest.mark.parametrize("mode", [Mode.BM25, Mode.RECENCY])
@pytest.mark.parametrize("query", ["the of is", "?!", "%", "\u200b", "\u0301"])
def test_only_stop_words_or_signs_find_nothing(query, mode):
    assert found(query, mode) == []
    assert found(f"{query} port", mode) != []


def test_a_mark_alone_is_not_contained_in_everything():
    assert found("\u0301", Mode.SUBSTRING) == []


@pytest.mark.parametrize("query", ["", " ", "\n\t\u00a0"])
def test_an_empty_query_is_refused_and_only_recency_gives_everything(query):
    for mode in (Mode.BM25, Mode.SUBSTRING):
        with pytest.raises(EmptyQuery) as refused:
            ask(query, mode)
        assert refused.value.errors[0].pointer == "/query"
    assert found(query, Mode.RECENCY) == ids(BACKUP, ISTANBUL, REDIS, STAGING, OLD_PORT)


def test_a_query_of_many_pages_is_refused():
    with pytest.raises(QueryTooLong):
        ask("a" * (LONGEST_QUERY + 1))
    assert found("port ".ljust(LONGEST_QUERY, "a")) == found("port")


def test_recency_gives_what_shares_a_term_newest_first():
    assert found("ports", Mode.RECENCY) == ids(BACKUP, STAGING, OLD_PORT)


@pytest.mark.parametrize("query", ["redis run", "REDIS\n  RUN", "edis ru", "Rédïs run"])
def test_a_substring_is_found_whatever_its_case_accents_and_line_breaks(query):
    assert found(query, Mode.SUBSTRING) == ids(BACKUP)


def test_substrings_come_newest_first_and_signs_mean_themselves():
    assert found("port", Mode.SUBSTRING) == ids(BACKUP, STAGING, OLD_PORT)
    assert found("%", Mode.SUBSTRING) == found("_", Mode.SUBSTRING) == []
    assert found("istanbul'da", Mode.SUBSTRING) == ids(ISTANBUL)


@pytest.mark.parametrize("mode", Mode)
def test_equal_hits_come_by_id_in_whatever_order_they_were_stored(mode):
    high = UUID("ffffffff-0000-7000-8000-000000000000")
    equal = [row(number, "port", minutes=0) for number in (3, 1, high.int, 1 << 64, 2)]
    corpus = RecordsInMemory(*equal, row(9, "backup"))
    assert found("port", mode, corpus=corpus) == [UUID(int=n) for n in (1, 2, 3, 1 << 64, high.int)]
    assert found("port", mode, 2, corpus=corpus) == [UUID(int=1), UUID(int=2)]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("query", ["port", "redis"])
def test_an_empty_workspace_has_no_hits(mode, query):
    assert found(query, mode, corpus=RecordsInMemory()) == []
    assert found(query, mode, scope=GLOBEX) == []


@settings(deadline=None)
@given(CONTENTS, TEXTS)
def test_every_score_is_the_librarys_on_the_eligible_records(contents, query):
    corpus = many(contents)
    terms = list(query_terms(query))
    tokens = [row.tokens.split() for row in corpus.rows[ACME]]
    theirs = BM25Okapi(tokens).get_scores(terms) if any(tokens) else []
    sharing = {at for at, its in enumerate(tokens) if set(its) & set(terms)}
    hits = ask(query, limit=None, corpus=corpus).hits
    assert {hit.id.int for hit in hits} == sharing
    assert all(abs(hit.score - theirs[hit.id.int]) < 1e-9 for hit in hits)
    assert [hit.id for hit in hits] == [hit.id for hit in sorted(hits, key=lambda hit: (-hit.score, hit.id))]


@settings(deadline=None)
@given(CONTENTS, CONTENTS, TEXTS, MODES)
def test_records_of_another_workspace_change_no_score_by_a_bit(contents, foreign, query, mode):
    corpus, engine = many(contents), EmbeddedEngine()
    alone = search(corpus, ACME, query, mode, engine=engine)
    corpus.add(*(row(1000 + number, content) for number, content in enumerate(foreign)), scope=GLOBEX)
    search(corpus, GLOBEX, query, mode, engine=engine)
    assert search(corpus, ACME, query, mode, engine=engine) == alone == ask(query, mode, corpus=corpus)


@settings(deadline=None)
@given(CONTENTS, TEXTS, MODES)
def test_saying_a_word_twice_or_in_another_order_changes_nothing(contents, query, mode):
    corpus = many(contents)
    words = query.split()
    if mode is not Mode.SUBSTRING:
        assert ask(f"{query} {query}", mode, corpus=corpus) == ask(query, mode, corpus=corpus)
        assert ask(" ".join(reversed(words)), mode, corpus=corpus) == ask(query, mode, corpus=corpus)


@settings(deadline=None)
@given(CONTENTS, TEXTS, MODES, st.integers(1, 25))
def test_a_limit_keeps_the_first_hits_of_the_whole_answer(contents, query, mode, limit):
    corpus = many(contents)
    assert ask(query, mode, limit, corpus=corpus).hits == ask(query, mode, None, corpus=corpus).hits[:limit]


@settings(deadline=None)
@given(CONTENTS, TEXTS)
def test_substring_finds_exactly_what_contains_the_query(contents, query):
    corpus = many(contents)
    containing = [number for number, content in enumerate(contents) if query.casefold() in content.casefold()]
    assert [hit.int for hit in found(query, Mode.SUBSTRING, None, corpus=corpus)] == containing[::-1]


def test_the_newest_is_told_apart_by_microseconds():
    first, second = row(1, "port"), row(2, "port")
    tick = timedelta(microseconds=1)
    corpus = RecordsInMemory(first, second._replace(recorded_at=first.recorded_at + tick))
    assert found("port", Mode.RECENCY, corpus=corpus) == ids(second, first)
