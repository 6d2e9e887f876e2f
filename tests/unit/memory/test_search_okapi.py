"""The scores are BM25Okapi's, whichever way the list of records grew."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory.search.okapi import Okapi

WORDS = st.sampled_from(["port", "stag", "redi", "key", "deploy", "fridai", "backup", "7443"])
RECORDS = st.lists(st.lists(WORDS, max_size=12), max_size=30)
QUERIES = st.lists(WORDS | st.just("unheard"), min_size=1, max_size=6, unique=True)


def okapi(records: list[list[str]]) -> Okapi:
    index = Okapi()
    for terms in records:
        index.add(terms)
    return index


def scores(index: Okapi, query: list[str]) -> dict[int, float]:
    positions, values = index.scores(query)
    return dict(zip(positions.tolist(), values.tolist(), strict=True))


@settings(deadline=None)
@given(RECORDS, QUERIES)
def test_scores_equal_the_librarys_on_every_record_that_shares_a_term(records, query):
    assume(any(records))  # the library divides by zero otherwise
    theirs = BM25Okapi(records).get_scores(query)
    ours = scores(okapi(records), query)
    assert set(ours) == {at for at, terms in enumerate(records) if set(terms) & set(query)}
    assert all(abs(ours[at] - theirs[at]) < 1e-9 for at in ours)


@settings(deadline=None)
@given(RECORDS, RECORDS, QUERIES)
def test_a_list_that_grew_between_queries_gives_the_bits_of_one_built_at_once(records, more, query):
    grown = okapi(records)
    scores(grown, query)
    for terms in more:
        grown.add(terms)
    assert scores(grown, query) == scores(okapi(records + more), query)


@settings(deadline=None)
@given(RECORDS, QUERIES)
def test_records_that_share_a_term_are_those_that_are_scored(records, query):
    index = okapi(records)
    assert index.sharing(query).tolist() == list(scores(index, query))


def test_nothing_is_found_where_nothing_is():
    assert scores(Okapi(), ["port"]) == {}
    assert Okapi().sharing(["port"]).tolist() == []
    assert scores(okapi([[], []]), ["port"]) == {}


def test_a_lone_match_is_found_although_its_score_is_below_zero():
    assert -0.3 < scores(okapi([["port"]]), ["port"])[0] < 0


def test_a_term_in_half_of_the_records_finds_them_although_it_scores_nothing():
    assert scores(okapi([["port"], ["key"]]), ["port"]) == {0: 0.0}
