"""Two texts by word: nothing is lost, and what changed is found."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.words import MAX_CELLS, MAX_LETTERS, Piece, align, by_word

TEXTS = st.text("ab \n.é7", max_size=40) | st.lists(
    st.sampled_from(["may", "not", "be", "7443", " ", "."])
).map("".join)


def changed(old, new):
    return [tuple(piece) for piece in by_word(old, new)[0] if piece.op != "equal"]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_joined_the_pieces_are_both_texts(old, new):
    pieces, _ = by_word(old, new)
    assert "".join(piece.old for piece in pieces) == old
    assert "".join(piece.new for piece in pieces) == new
    assert all((piece.op == "equal") is (piece.old == piece.new) for piece in pieces)
    assert not any(one.op == "equal" == other.op for one, other in pairwise(pieces))


@settings(deadline=None)
@given(TEXTS)
def test_equal_texts_have_no_change(text):
    assert changed(text, text) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("it listens on port 7443 behind", "it listens on port 7444 behind", [("replace", "7443", "7444")]),
        ("retries may be sent", "retries may not be sent", [("insert", "", "not ")]),
        ("first, then the second", "first; then the second", [("replace", ",", ";")]),
        ("once upon a time there was", "upon a time there was", [("delete", "once ", "")]),
        ("the red big dog barked", "the blue small dog barked", [("replace", "red big", "blue small")]),
        ("this is line\none of two", "this is line\ntwo of two", [("replace", "one", "two")]),
        ("written in the language C#", "written in the language C", [("delete", "#", "")]),
        (
            "it listens on 7443 and retries may be sent",
            "it listens on 7444 and retries may not be sent",
            [("replace", "7443", "7444"), ("insert", "", " not")],
        ),
        (
            "first is red and last is blue",
            "first is tan and last is grey",
            [("replace", "red", "tan"), ("replace", "blue", "grey")],
        ),
        ("", "all of this was added later", [("insert", "", "all of this was added later")]),
    ],
)
def test_what_changed_is_found_in_a_second(old, new, expected):
    assert changed(old, new) == expected


def test_what_is_read_at_a_glance_is_not_cut_up():
    assert changed("a@example.org", "b@example.") == [("replace", "a@example.org", "b@example.")]


def test_two_words_far_apart_in_a_long_text_are_both_found():
    words = [f"w{number}" for number in range(1_500)]
    other = [*words[:10], "not", *words[10:-10], "x", *words[-10:]]
    assert len(changed(" ".join(words), " ".join(other))) == 2


def test_far_apart_changes_in_a_very_long_text_are_all_found():
    words = [f"word{number}" for number in range(15_000)]
    other = [*words]
    other[10] = "X"
    other[7_000:7_003] = ["Y"]
    other.insert(14_990, "Z")
    found = changed(" ".join(words), " ".join(other))
    assert found == [
        ("replace", "word10", "X"),
        ("replace", "word7000 word7001 word7002", "Y"),
        ("insert", "", " Z"),
    ]


@pytest.mark.parametrize("unit", ["x", "!", "x ", "x. ", "\n"])
def test_a_hostile_text_is_coarser_and_never_missing(unit):
    old, new = unit * 40_000, ("y" + unit) * 30_000
    pieces, _ = by_word(old, new)
    assert len(pieces) <= MAX_LETTERS
    assert "".join(piece.old for piece in pieces) == old
    assert "".join(piece.new for piece in pieces) == new


def test_beyond_the_letters_that_are_left_a_change_is_told_as_it_stands():
    old, new = "it listens on port 7443 behind", "it listens on port 7444 behind"
    pieces, left = by_word(old, new, 100)
    assert (len(pieces), left) == (3, 100 - len("7443") * 2)
    assert by_word(old, new, 0) == ((Piece("replace", old, new),), 0)
    assert by_word(old, new, 7)[1] == 7, "what is not cut into words costs nothing"


def test_items_are_aligned_by_equality_and_not_by_hash():
    assert hash(-1) == hash(-2)
    blocks = align([7, -1, 8], [9, -2, 6], int)
    assert not [block for block in blocks if block.equal and block.old_end > block.old_start]


def test_blocks_leave_no_gap():
    old, new = [1, 2, 3, 4, 5], [0, 2, 3, 9, 5, 6]
    blocks = align(old, new, int)
    assert [item for block in blocks for item in old[block.old_start : block.old_end]] == old
    assert [item for block in blocks for item in new[block.new_start : block.new_end]] == new
    assert all(
        (old[block.old_start : block.old_end] == new[block.new_start : block.new_end]) is block.equal
        for block in blocks
        if block.old_end > block.old_start or block.new_end > block.new_start
    )


def test_too_many_items_are_not_aligned():
    size = int(MAX_CELLS**0.5) + 1
    blocks = align(["a", *range(size), "b"], ["c", *range(size), "d"], str)
    assert [block for block in blocks if block.equal and block.old_end > block.old_start] == []
