"""The diff tells types apart, loses nothing, and stays whole under what an agent can send."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from huqan_site.lib.canonical_json import canonical
from review.domain.diff import EVERY, FIRST, MAX_DRIFT, Change, Leaf, compare, drift, whole
from review.domain.pointers import pointer

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, 1e21, -1.5])
    | st.sampled_from(["", "1", "true", "null", "a b", "a c"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("01ab/~"), inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["to", "n", "a/b", "é"]), VALUES, max_size=4)


def told(old, new):
    """(pointer, change, old, new) of every row that differs."""
    rows = compare(canonical(old), canonical(new)).rows
    return [
        (row.pointer, row.change.value, row.old and row.old.json, row.new and row.new.json)
        for row in rows
        if row.change is not Change.UNCHANGED
    ]


def leaves(value, path=()):
    """Written apart from the code under test: every leaf of a value by its pointer, what is empty left out."""
    if value and isinstance(value, dict):
        return {
            place: leaf for key, part in value.items() for place, leaf in leaves(part, (*path, key)).items()
        }
    if value and isinstance(value, list):
        return {
            place: leaf for n, part in enumerate(value) for place, leaf in leaves(part, (*path, n)).items()
        }
    return {} if value in ({}, []) else {pointer(path): canonical(value)}


def side(rows, which):
    """What the rows hold of one side, containers that a row carries whole taken apart again."""
    found = {}
    for row in rows:
        leaf = row.new if which == "new" else row.old
        place = row.pointer if which == "new" or row.was is None else row.was
        if leaf is not None:
            parts = leaves(json.loads(leaf.json))
            found |= {place + below: text for below, text in parts.items()}
    return found


@settings(deadline=None)
@given(ARGUMENTS, ARGUMENTS)
def test_the_rows_hold_both_sides_whole(old, new):
    rows = compare(canonical(old), canonical(new)).rows
    assert side(rows, "new") == leaves(new)
    assert side(rows, "old") == leaves(old)


@settings(deadline=None)
@given(ARGUMENTS, ARGUMENTS)
def test_there_is_a_change_exactly_where_the_texts_differ(old, new):
    diff = compare(canonical(old), canonical(new))
    assert (diff.changes == 0) is (canonical(old) == canonical(new))
    same = {Change.UNCHANGED, Change.MOVED}
    assert all((row.old == row.new) is (row.change in same) for row in diff.rows)


@settings(deadline=None)
@given(ARGUMENTS)
def test_the_whole_of_a_first_revision_is_every_place_unchanged(value):
    diff = whole(canonical(value))
    assert side(diff.rows, "new") == leaves(value)
    assert set(diff.counts) <= {Change.UNCHANGED}


ONES = [1, True, "1", None, "true", "null", [], {}, [1], {"0": 1}, 1.5, "", False, 0]


@pytest.mark.parametrize("old", ONES, ids=repr)
def test_no_value_passes_for_another(old):
    for new in ONES:
        assert bool(told({"n": old}, {"n": new})) is (canonical(old) != canonical(new)), new


@pytest.mark.parametrize("part", [{}, [], [1], {"run": "ls"}, ["a", {"b": True}]], ids=repr)
def test_no_text_passes_for_an_array_or_an_object_however_it_is_spelt(part):
    for text in (repr(part), str(part), canonical(part), f"\0{part!r}"):
        assert ("/n/1", "type_changed", canonical(part), canonical(text)) in told(
            {"n": ["a", part, "b"]}, {"n": ["a1", text, "b1"]}
        )


def test_a_type_change_names_both_types():
    (row,) = compare('{"ref":1}', '{"ref":"1"}').rows
    assert (row.change, row.old, row.new) == (Change.TYPE_CHANGED, Leaf("number", "1"), Leaf("string", "1"))
    assert told({"n": True}, {"n": 1}) == [("/n", "type_changed", "true", "1")]
    assert told({"n": [1]}, {"n": "x"}) == [("/n", "type_changed", "[1]", '"x"')]


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ({"a": 48}, {"a": 480}, [("/a", "changed", "48", "480")]),
        ({}, {"a": {"b": None}}, [("/a/b", "added", None, "null")]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, [("/a/b", "removed", "1", None)]),
        (
            {"a/b": 1, "m~n": 1},
            {"a/b": 2, "m~n": 2},
            [("/a~1b", "changed", "1", "2"), ("/m~0n", "changed", "1", "2")],
        ),
        ({"": 1}, {"": 2}, [("/", "changed", "1", "2")]),
        ({"a": []}, {"a": [1]}, [("/a/0", "added", None, "1")]),
        ({"a": {"b": 1}}, {"a": {}}, [("/a/b", "removed", "1", None)]),
        ({"a": {}}, {}, [("/a", "removed", "{}", None)]),
        ({"a": {}}, {"a": []}, [("/a", "type_changed", "{}", "[]")]),
    ],
)
def test_each_place_has_its_row(old, new, rows):
    assert told(old, new) == rows


def test_an_item_put_in_front_leaves_the_others_unchanged_and_says_where_they_were():
    diff = compare('{"to":["a","b"]}', '{"to":["x","a","b"]}')
    assert [(row.pointer, row.change.value, row.was) for row in diff.rows] == [
        ("/to/0", "added", None),
        ("/to/1", "unchanged", "/to/0"),
        ("/to/2", "unchanged", "/to/1"),
    ]


def test_items_that_came_and_went_in_several_places_are_told_apart_from_those_that_stayed():
    diff = compare('{"to":["a","b","c","d","e"]}', '{"to":["x","b","d","e","y"]}')
    assert [(row.pointer, row.change.value) for row in diff.rows] == [
        ("/to/0", "changed"),
        ("/to/1", "unchanged"),
        ("/to/2", "removed"),
        ("/to/2", "unchanged"),
        ("/to/3", "unchanged"),
        ("/to/4", "added"),
    ]
    objects = compare('{"l":[{"i":1},{"i":2},{"i":3}]}', '{"l":[{"i":9},{"i":2},{"i":8},{"i":7}]}')
    assert [(row.pointer, row.change.value) for row in objects.rows] == [
        ("/l/0/i", "changed"),
        ("/l/1/i", "unchanged"),
        ("/l/2/i", "changed"),
        ("/l/3/i", "added"),
    ]


def test_an_item_that_stands_elsewhere_as_it_was_has_moved():
    diff = compare('{"to":["a","b","c","d"]}', '{"to":["d","a","x","c"]}')
    assert [(row.pointer, row.change.value, row.was) for row in diff.rows] == [
        ("/to/0", "moved", "/to/3"),
        ("/to/1", "unchanged", "/to/0"),
        ("/to/2", "changed", "/to/1"),
        ("/to/3", "unchanged", "/to/2"),
    ]
    assert (diff.counts[Change.MOVED], diff.changes) == (1, 2)
    steps = {"steps": [{"do": "stop"}, {"do": "wait", "s": 5}, {"do": "start"}]}
    turned = {"steps": steps["steps"][::-1]}
    rows = [row for row in compare(canonical(steps), canonical(turned)).rows if row.change is Change.MOVED]
    assert [(row.pointer, row.was, row.new.json) for row in rows] == [
        ("/steps/0/do", "/steps/2/do", '"start"'),
        ("/steps/1/do", "/steps/1/do", '"wait"'),
        ("/steps/1/s", "/steps/1/s", "5"),
    ]


def test_of_equal_items_each_has_moved_once():
    rows = compare('{"n":[1,1,2,3]}', '{"n":[3,2,1,1,1]}').rows
    assert [(row.pointer, row.change.value, row.was) for row in rows] == [
        ("/n/0", "moved", "/n/3"),
        ("/n/1", "moved", "/n/2"),
        ("/n/2", "unchanged", "/n/0"),
        ("/n/3", "unchanged", "/n/1"),
        ("/n/4", "added", None),
    ]


def test_no_move_is_looked_for_among_very_many():
    old = [f"item {n}" for n in range(300)]
    diff = compare(canonical({"l": old}), canonical({"l": old[::-1]}))
    assert Change.MOVED not in diff.counts and diff.changes


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), max_size=8), st.randoms())
def test_an_array_in_another_order_has_nothing_but_moves(items, chance):
    turned = chance.sample(items, len(items))
    diff = compare(canonical({"l": items}), canonical({"l": turned}))
    assert set(diff.counts) <= {Change.MOVED, Change.UNCHANGED}
    assert sum(diff.counts.values()) == max(len(items), 1)


def test_an_item_that_changed_shows_what_changed_in_it():
    old = {"files": [{"name": "a.pdf", "size": 1}, {"name": "b.pdf", "size": 2}]}
    new = {"files": [{"name": "a.pdf", "size": 3}, {"name": "b.pdf", "size": 2}]}
    assert told(old, new) == [("/files/0/size", "changed", "1", "3")]


def test_the_rows_of_an_object_stand_in_canonical_order():
    new = {"\ufb33": 1, "\U0001f600": 1, "b": 1, "a": 1}
    assert [row.pointer for row in compare("{}", canonical(new)).rows] == [
        "/a",
        "/b",
        "/\U0001f600",
        "/\ufb33",
    ]


def test_a_changed_text_comes_with_its_words_and_a_number_without():
    old, new = (f'{{"n":{port},"t":"it listens on port {port}"}}' for port in (7443, 7444))
    rows = compare(old, new).rows
    assert rows[0].words == ()
    assert [(piece.old, piece.new) for piece in rows[1].words] == [
        ("it listens on port ", "it listens on port "),
        ("7443", "7444"),
    ]


def test_all_texts_together_have_only_so_many_letters_compared_by_word():
    old, new = ({"t": [f"text {n} says {word} and more" for n in range(300)]} for word in ("this", "that"))
    words = [len(row.words) for row in compare(canonical(old), canonical(new)).rows]
    assert (words[0], words[-1]) == (3, 1)
    assert all(words)


@pytest.mark.parametrize("text", ["\u202egnp.exe", "a\u0301", '\u0001\u2028"\\', "<script>", "x" * 100_000])
def test_a_text_is_carried_as_it_is(text):
    (row,) = compare("{}", canonical({"t": text})).rows
    assert row.new == Leaf("string", text)
    assert json.loads(row.new.json) == text


def test_of_very_many_rows_the_first_are_shown_and_all_are_counted():
    count = FIRST.changed + 500
    old = {"a": list(range(count)), "z": [0] * count}
    new = {"a": [str(number) for number in range(count)], "z": [0] * count}
    diff = compare(canonical(old), canonical(new))
    assert diff.counts == {Change.TYPE_CHANGED: count, Change.UNCHANGED: count}
    assert len(diff.rows) == FIRST.changed + FIRST.unchanged
    assert (diff.changes, diff.more, diff.more_changes) == (count, 2 * count - len(diff.rows), 500)


@pytest.mark.parametrize("count", [FIRST.changed, 9_900])
def test_who_asks_for_every_row_gets_every_row(count):
    old = {"a": list(range(count)), "z": 1}
    new = {"a": [str(number) for number in range(count)], "z": 1}
    diff = compare(canonical(old), canonical(new), EVERY)
    assert (len(diff.rows), diff.more, diff.more_changes) == (count + 1, 0, 0)
    assert len(whole(canonical(new), EVERY).rows) == count + 1


def test_changes_are_not_crowded_out_by_what_is_unchanged():
    old = {"a": [0] * (FIRST.unchanged + 100), "z": 1}
    assert told(old, old | {"z": 2}) == [("/z", "changed", "1", "2")]


SHAPES = {
    "one text": ("x " * 60_000, "y " * 60_000),
    "one word": ("x" * 120_000, "y" * 120_000),
    "signs": ("?!" * 60_000, "!?+" * 40_000),
    "numbers": ([n % 7 for n in range(9_900)], [n % 5 for n in range(9_900)]),
    "objects": ([{"i": n} for n in range(4_900)], [{"i": n + 1} for n in range(4_900)]),
    "keys": ({f"k{n}": n for n in range(9_900)}, {f"j{n}": n for n in range(9_900)}),
    "many texts": (["a b c. " * 90] * 190, ["a c b. " * 90] * 190),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_worst_that_an_agent_can_send_is_compared_whole(shape):
    old, new = ({"v": value} for value in SHAPES[shape])
    diff = compare(canonical(old), canonical(new))
    assert diff.changes
    assert diff.more == sum(diff.counts.values()) - len(diff.rows)


# What is about to run against what was approved


def test_drift_says_where_in_json():
    assert drift('{"n":1,"to":"a"}', '{"n":"1","to":"a"}') == [
        {"pointer": "/n", "change": "type_changed", "approved": "1", "offered": '"1"'}
    ]
    assert drift('{"n":1}', '{"n":1}') == []
    assert drift('{"n":1}', None) == []


def test_what_moved_is_told_an_executor_as_gone_and_come():
    assert drift('{"to":["a","b","c"]}', '{"to":["c","a","b"]}') == [
        {"pointer": "/to/2", "change": "removed", "approved": '"c"', "offered": None},
        {"pointer": "/to/0", "change": "added", "approved": None, "offered": '"c"'},
    ]


def test_drift_is_capped():
    assert len(drift("{}", canonical({f"k{n}": n for n in range(500)}))) == MAX_DRIFT
