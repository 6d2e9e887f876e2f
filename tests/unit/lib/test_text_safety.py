"""What hides or passes for something else is found and shown; what is merely foreign is left alone."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from huqan_site.lib.text_safety import Finding, Segment, code_point_name, inspect, inspect_value, segments

CASES = json.loads((Path(__file__).parents[2] / "data" / "text_safety.json").read_text())["cases"]
# Everything that has ever been used to hide or disguise, so that random texts are full of it.
texts = st.text() | st.text(
    alphabet="aZ9 .\n\r\t\x1b\u00a0\u00ad\u200b\u200c\u200d\u200e\u202e\u2066\ufe0f\ufe01\ufeff\u2044\u0301\u0430\u03b1"
    "\u0645\u06cc\u0915\u094d\u1820\u180b\u65e5\uff21❤👩🏽🏴\U000e0067\U000e007f\U000e0100𝐚ı\u2028"
)


def codes(text: str) -> set[str]:
    return {finding.code for finding in inspect(text)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"])[:30])
def test_a_shared_case_has_exactly_its_codes(case):
    assert sorted(codes(case["text"])) == case["codes"]


@pytest.mark.parametrize(
    "text",
    [
        "The staging port is 7443.\r\nIt moved in March.",
        "“Quoted” — it’s 5 μm, −3 °C, 1½ or 1⁄2, x² ≤ 3∶1 …",
        "α = 0.05, Δt = 3 μs, 10 kΩ, β-carotene",
        "Это тест API и SMS-сообщение о росе: роса на траве, а у нас ухо и хор",
        "Καλημέρα και καληνύχτα",
        "Բարեւ։",
        "שלום עולם, API",
        "हिन्दी क्‍ष में",
        "ใช้APIนี้",
        "한국어 テキストABCです 中文，句号。ＡＢＣ！",
        "❤️ 1️⃣ ☎️ 👩🏽‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🇹🇷",
        "    def indented():\n\n\n        return 1",
    ],
)
def test_ordinary_text_of_any_language_is_left_alone(text):
    assert inspect(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\u200eb", "bidi_control"),
        ("a\u061cb", "bidi_control"),
        ("pass\u2060word", "zero_width"),
        ("\ufeffstart", "zero_width"),
        ("fi\u200cshing", "zero_width"),
        ("tamam\u200d", "zero_width"),
        ("می\u200c\u200cخواهم", "zero_width"),
        ("می\u200c\u200dخواهم", "zero_width"),
        ("👩\u200dx", "zero_width"),
        ("x\ufe0f", "variation_selector"),
        ("❤\ufe0f\ufe0f", "variation_selector"),
        ("❤\ufe0e\ufe0f", "variation_selector"),
        ("葛\U000e0100", "variation_selector"),
        ("a\u180b", "variation_selector"),
        ("🏴\U000e0067\U000e0062\U000e007f", "tag_character"),
        ("🏳\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "tag_character"),
        ("a\rb", "control_character"),
        ("a\x7fb", "control_character"),
        ("a\x85b", "control_character"),
        ("user@еxample.com", "mixed_script"),
        ("my_раssword", "mixed_script"),
        ("Αpple", "mixed_script"),
        ("сору", "look_alike"),
        ("open my_сору now", "look_alike"),
        ("АРІ", "look_alike"),
        ("ΤΟΝ", "look_alike"),
        ("𝐩𝐚𝐲𝐩𝐚𝐥", "look_alike"),
        ("ｐａｙｐａｌ", "look_alike"),
        ("C:∖Windows", "look_alike"),
        ("https:∕∕example", "look_alike"),
        ("a．b", "look_alike"),
        ("x" + " " * 412 + "y", "blank_run"),
        ("x" + "\u2800" * 40 + "y", "blank_run"),
        ("x" + "\n \t" * 6 + "y", "blank_run"),
        ("x" + "\r\n" * 6 + "y", "blank_run"),
    ],
)
def test_a_trick_is_found(text, code):
    assert codes(text) == {code}


def test_a_lone_greek_letter_is_a_symbol_unless_it_is_omicron():
    assert codes("ν = 3") == set()
    assert codes("ο = 3") == {"look_alike"}


def test_a_neighbour_in_the_same_script_vouches_for_a_word_and_a_latin_one_does_not():
    assert codes("роса на траве") == set()
    assert codes("open роса now, на is far") == {"look_alike"}


def test_neighbours_of_one_kind_are_one_finding_with_its_place():
    assert inspect("hello\U000e0069\U000e0067\u200b!") == [
        Finding("tag_character", 5, 7),
        Finding("zero_width", 7, 8),
    ]


def test_findings_stand_in_the_order_of_the_text():
    found = inspect("\u200bpаypal\u202e")
    assert [(finding.code, finding.start) for finding in found] == [
        ("zero_width", 0),
        ("mixed_script", 1),
        ("bidi_control", 7),
    ]


def test_keys_and_values_at_any_depth_are_inspected():
    found = inspect_value({"a": [{"k\u200b": "ok"}, "x\u202e"]})
    assert found == [Finding("zero_width", 1, 2, "/a/0/k\u200b#"), Finding("bidi_control", 1, 2, "/a/1")]


def test_a_reviewer_sees_each_hidden_character_by_name():
    assert segments("/srv/\u202egnp.exe") == [
        Segment("text", "/srv/"),
        Segment("code_point", "\u202e", "U+202E right-to-left override"),
        Segment("text", "gnp.exe"),
    ]


def test_a_reviewer_sees_which_letter_is_not_what_it_seems():
    assert segments("pаypal")[1] == Segment("code_point", "а", "U+0430 cyrillic small letter a")
    assert [segment.kind for segment in segments("ѕсоре")] == ["code_point"] * 5


def test_emptiness_is_counted():
    spaces, lines = " " * 412, "\n" * 58
    assert segments(f"a{spaces}b") == [
        Segment("text", "a"),
        Segment("blank_run", spaces, "412 spaces"),
        Segment("text", "b"),
    ]
    assert segments(f"a{lines}b") == [
        Segment("text", "a"),
        Segment("blank_run", lines, "58 line breaks"),
        Segment("text", "b"),
    ]


def test_a_run_of_one_character_is_one_badge_that_counts():
    assert segments("a" + "\u200b" * 5000) == [
        Segment("text", "a"),
        Segment("code_point", "\u200b" * 5000, "U+200B zero width space, 5000 times"),
    ]


def test_line_breaks_are_marked_and_accents_are_not():
    assert [segment.kind for segment in segments("a\r\nb\nc")] == [
        "text",
        "line_break",
        "text",
        "line_break",
        "text",
    ]
    assert segments("cafe\u0301") == [Segment("text", "cafe\u0301")]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\x1b", "U+001B escape"),
        ("\x01", "U+0001 control character"),
        ("\U000e0069", "U+E0069 tag latin small letter i"),
    ],
)
def test_a_code_point_has_a_name_even_where_unicode_gives_none(character, name):
    assert code_point_name(character) == name


@given(texts)
def test_nothing_is_lost_on_the_way_to_the_page(text):
    assert "".join(segment.text for segment in segments(text)) == text
    assert all(segment.text for segment in segments(text))


@given(texts)
def test_no_plain_segment_holds_a_character_that_hides(text):
    """Whatever remains as text is harmless where it stands: it was not found in the whole text."""
    hidden = {"bidi_control", "tag_character", "control_character"}
    for segment in segments(text):
        if segment.kind == "text":
            assert not hidden & codes(segment.text) or "🏴" in text


@given(texts)
def test_every_finding_lies_inside_the_text(text):
    assert all(0 <= finding.start < finding.end <= len(text) for finding in inspect(text))


@pytest.mark.parametrize(
    "unit",
    [
        "a\u200b",
        "👩\u200d",
        "⁄",
        "pа ",
        "роса ",
        "a ",
        " " * 39 + "x",
        "e\u0301",
        "\r\n",
        "日本",
        "\u202e",
        "❤\ufe0f",
    ],
)
def test_a_hostile_text_costs_linear_time(unit):
    began = time.process_time()
    segments(unit * (128 * 1024 // len(unit)))
    assert time.process_time() - began < 4
