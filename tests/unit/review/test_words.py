"""Two texts by word: nothing is lost, and what changed is found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.words import MAX_CELLS, MAX_PIECES, align, by_word, letters

TEXTS = st.text("ab \n.é7", max_size=40) | st.lists(
    st.sampled_from(["may", "not", "be", "7443", " ", "."])
).map("".join)


def changed(old, new):
    return [(piece.op, piece.old, piece.new) for piece in by_word(old, new) if piece.op != "equal"]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_joined_the_pieces_are_both_texts(old, new):
    pieces = by_word(old, new)
    assert "".join(piece.old for piece in pieces) == old
    assert "".join(piece.new for piece in pieces) == new
    assert all((piece.op == "equal") is (piece.old == piece.new) for piece in pieces)


@settings(deadline=None)
@given(TEXTS)
def test_equal_texts_have_no_change(text):
    assert changed(text, text) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("port 7443 behind", "port 7444 behind", [("replace", "7443", "7444")]),
        ("retries may be sent", "retries may not be sent", [("insert", "", "not ")]),
        ("a, b", "a; b", [("replace", ",", ";")]),
        ("one two", "two", [("delete", "one ", "")]),
        ("", "x", [("insert", "", "x")]),
        ("red big dog", "blue small dog", [("replace", "red big", "blue small")]),
        ("line\none", "line\ntwo", [("replace", "one", "two")]),
        ("C#", "C", [("delete", "#", "")]),
    ],
)
def test_what_changed_is_found_in_a_second(old, new, expected):
    assert changed(old, new) == expected


def test_two_words_far_apart_in_a_long_text_are_both_found():
    words = [f"w{number}" for number in range(1_500)]
    other = [*words[:10], "not", *words[10:-10], "x", *words[-10:]]
    assert len(changed(" ".join(words), " ".join(other))) == 2


def test_a_longer_text_is_compared_by_sentence_first():
    sentences = [f"Sentence {number} says a thing that stands alone. " for number in range(1_500)]
    other = [*sentences[:5], sentences[5].replace("alone", "apart"), *sentences[6:-5], *sentences[-4:]]
    replaced, gone = changed("".join(sentences), "".join(other))
    assert replaced == ("replace", "alone", "apart")
    assert (gone[0], len(gone[1])) == ("delete", len(sentences[-5]))


@pytest.mark.parametrize("unit", ["x", "!", "x ", "x. ", "\n"])
def test_a_hostile_text_is_coarser_and_never_missing(unit):
    old, new = unit * 40_000, ("y" + unit) * 30_000
    pieces = by_word(old, new)
    assert len(pieces) <= MAX_PIECES + 2
    assert "".join(piece.old for piece in pieces) == old
    assert "".join(piece.new for piece in pieces) == new


def test_too_many_small_changes_are_one():
    old, new = (" ".join(f"w{number} {word}" for number in range(900)) for word in "xy")
    assert [piece.op for piece in by_word(old, new)] == ["equal", "replace"]
    few, other = (" ".join(f"w{number} {word}" for number in range(90)) for word in "xy")
    assert len(changed(few, other)) == 90


def test_items_are_aligned_by_equality_and_not_by_hash():
    assert hash("a-hash") != hash(-1) == hash(-2)
    assert [block.equal for block in align([-1], [-2])] == [False]
    assert align([0] * (MAX_CELLS // 1_000 + 1), [0] * 1_000) is None


def test_what_differs_is_counted():
    assert letters(by_word("port 7443", "port 7444")) == 8
