"""A pattern that an agent's text could hang the console with never gets into a policy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.patterns import MAX_PATTERN, MAX_TEXT, Unbounded, compiled


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(a+)+$",
        r"^(a|a)*$",
        r"^(a*)*b",
        r"(a?){30}a{30}",
        r"^(([a-z]){1,9}){1,9}$",
        r".*.*x",
        r"^a*a*a*$",
        r"^(a|b)+[ab]+[ab]+$",
        r"^a|[a-z]+[a-z]+$",
        r"^([a-z0-9]+-)*[a-z0-9]+$",
    ],
)
def test_what_could_be_tried_in_too_many_ways_is_refused(pattern):
    with pytest.raises(Unbounded, match="too many ways"):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?=a)",
        r"(?!a)",
        r"(?<=a)b",
        r"(a)\1",
        r"a+?",
        r"a++",
        r"(?i)a",
        r"(?P<n>a)",
        r"\Aa",
        r"\bword",
        r"a{,3}",
        "a{2,1}",
    ],
)
def test_what_the_grammar_does_not_have_is_refused(pattern):
    with pytest.raises(Unbounded):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern", ["(", ")", "(a", "a)", "[", "[]", "[z-a]", "*", "^*", "a**", "a|*", "a{", "a{2000}", "\\"]
)
def test_what_is_broken_is_refused_and_never_an_error_of_the_library(pattern):
    with pytest.raises(Unbounded):
        compiled(pattern)


def test_a_pattern_has_a_length():
    assert compiled("a" * MAX_PATTERN)
    with pytest.raises(Unbounded, match="256"):
        compiled("a" * (MAX_PATTERN + 1))


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^DE\d{20}$", "DE" + "1" * 20, True),
        (r"^DE\d{20}$", "DE" + "1" * 20 + "\n", False),
        (r"^\d+$", "١٢٣", False),
        (r"^[^@\s]{1,64}@[a-z0-9.-]{1,255}$", "o.demir@kuzey.example", True),
        (r"^(\d{1,3}\.){3}\d{1,3}$", "10.0.0.1", True),
        (r"^(EUR|USD) \d+(\.\d{2})?$", "EUR 480.00", True),
        (r"^(EUR|USD) \d+(\.\d{2})?$", "EUR 480.0", False),
        (r"ab", "cabc", True),
        (r"^[\w./-]+$", "a/b.c-d_e", True),
        (r"^a{1024}$", "a" * 1_024, True),
        (r"^a{2,}$", "aaa", True),
        (r"^a{2,}$", "a", False),
        ("^a$|^b$", "b", True),
        ("", "anything", True),
    ],
)
def test_common_patterns_mean_what_they_say(pattern, text, matches):
    assert bool(compiled(pattern).search(text)) is matches


@pytest.mark.parametrize(
    "pattern", [r"^[a-z]*[a-z]*$", r"[a-z]*!", r"^([a-z]{1,3}){1,8}$", r"^[a-z]{1,64}[a-z]{1,64}[a-z]{1,64}$"]
)
def test_the_worst_that_is_taken_comes_to_an_end(pattern):
    assert compiled(pattern).search("a" * (MAX_TEXT - 1) + "\n") is None


@settings(deadline=None)
@given(st.text("ab()[]{}|*+?^$\\.,-12", max_size=12))
def test_whatever_is_written_is_compiled_or_refused(pattern):
    try:
        compiled(pattern)
    except Unbounded as why:
        sentence = str(why)
    else:
        sentence = "Taken."
    assert sentence.endswith(".")
