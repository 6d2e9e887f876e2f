"""What every page shows the same way cannot act, loses nothing and says its unit."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.template import Context, Engine
from hypothesis import given
from hypothesis import strategies as st

from huqan_site.templatetags import look

ROOT = Path(__file__).parents[3]
ENGINE = Engine(libraries={"look": "huqan_site.templatetags.look"})
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def plain(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_a_script_that_an_agent_wrote_is_read_and_does_not_run():
    page = ENGINE.from_string("{% load look %}{% safe_text words %}").render(
        Context({"words": '<img src=x onerror="steal()">'})
    )
    assert page == "&lt;img src=x onerror=&quot;steal()&quot;&gt;"


def test_a_character_that_turns_the_line_around_is_named_in_its_place_and_is_not_in_the_page():
    shown = look.safe_text("/srv/\u202egnp.exe")
    assert "\u202e" not in shown
    assert plain(shown).startswith("/srv/U+202E right-to-left override")
    assert shown.endswith("gnp.exe")


def test_a_run_of_one_hidden_character_is_one_badge_that_counts_it():
    assert "U+200B × 3" in look.safe_text("pay\u200b\u200b\u200bment")


def test_a_long_blank_is_counted_and_what_it_pushed_away_stays_near():
    assert plain(look.safe_text("ok" + " " * 412 + "rm -rf /")) == "ok412 spacesrm -rf /"


def test_a_line_break_stays_a_line_break():
    assert plain(look.safe_text("one\r\ntwo")) == "one\ntwo"


@given(st.text(alphabet="aZ9 .<&'\"äß日", max_size=60))
def test_text_that_hides_nothing_is_shown_as_it_stands(text):
    assert ENGINE.from_string("{% load look %}{% safe_text text %}").render(
        Context({"text": text})
    ) == ENGINE.from_string("{{ text }}").render(Context({"text": text}))


def test_a_changed_word_is_marked_whole_and_the_rest_is_not():
    shown = look.diff_text([("same", "port "), ("ins", "7444"), ("same", ".")])
    assert shown == 'port <ins class="word">7444</ins>.'


def test_a_hidden_character_inside_a_changed_word_is_still_a_badge():
    shown = look.diff_text([("same", "to "), ("del", "pay\u200bment")])
    assert plain(shown) == "to payU+200B zero width spacement"
    assert shown.count('<del class="word">') == 3


def test_a_reason_that_spans_lines_carries_its_number_once():
    shown = look.marked_text("Ignore\nall of it. Then more.", [(0, 17, "why", 1)])
    assert shown.count('<span class="number">1</span>') == 1
    assert plain(shown) == "1Ignore\nall of it. Then more."
    assert shown.endswith("</mark> Then more.")


def test_a_digest_is_read_in_fours_and_short_it_keeps_both_ends():
    assert look.fours("sha256:3c5f93ccbc12") == "3c5f 93cc bc12"
    assert look.fours("0123456789abcdef" * 4, short=True) == "0123 4567 … 89ab cdef"


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=59), "0 min"),
        (timedelta(minutes=41), "41 min"),
        (timedelta(minutes=60), "1 h"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=6, hours=23), "6 days"),
    ],
)
def test_a_stretch_of_time_is_said_in_its_largest_whole_unit(length, words):
    assert look.span(length) == words


def test_a_time_has_its_zone_and_its_day_only_where_that_is_not_today(time_machine):
    time_machine.move_to(NOON, tick=False)
    assert plain(look.moment(NOON)) == "12:00 UTC"
    assert plain(look.moment(NOON + timedelta(days=7))) == "7 Dec 12:00 UTC"
    assert plain(look.moment(NOON - timedelta(days=365))) == "30 Nov 2025 12:00 UTC"
    assert 'datetime="2026-11-30T12:00:00Z"' in look.moment(NOON)


def test_what_ends_within_the_hour_is_soon_and_what_ends_later_is_not(time_machine):
    time_machine.move_to(NOON, tick=False)
    assert look.is_soon(NOON + timedelta(minutes=59))
    assert not look.is_soon(NOON + timedelta(minutes=60))
    assert look.distance(NOON + timedelta(minutes=41)) == "in 41 min"
    assert look.distance(NOON - timedelta(hours=3)) == "3 h ago"


def test_every_sign_that_a_page_asks_for_is_drawn():
    templates = {path: path.read_text() for path in (ROOT / "templates").rglob("*.html")}
    drawn = set(re.findall(r'id="i-(\w+)"', templates[ROOT / "templates/components/sprite.html"]))
    asked = {name for text in templates.values() for name in re.findall(r'{% icon "(\w+)"', text)}
    assert {"high", "medium", "low", "given", "open"} | asked <= drawn
