"""A refusal carries its meaning once, for programs and for people."""

import pytest

from huqan_site.lib.problems import FieldError, Refusal


class NotToday(Refusal):
    code = "not_today"
    status = 409
    title = "Not today"
    detail = "Nothing is decided on Sundays. Come back on Monday."


def test_a_refusal_says_its_own_sentence():
    refusal = NotToday()
    assert (str(refusal), refusal.detail) == (NotToday.detail, NotToday.detail)
    assert refusal.errors == []
    assert refusal.extra == {}


def test_a_sentence_given_when_raised_stays_with_that_one():
    assert NotToday("Alice is away until Monday.").detail == "Alice is away until Monday."
    assert NotToday().detail == NotToday.detail


def test_fields_and_members_travel_with_it():
    refusal = NotToday(errors=[FieldError("/to", "unknown", "Nobody has that name.")], record="r1")
    assert refusal.errors[0].pointer == "/to"
    assert refusal.extra == {"record": "r1"}


def test_it_can_be_raised_as_a_class():
    with pytest.raises(Refusal) as caught:
        raise NotToday
    assert caught.value.status == 409
