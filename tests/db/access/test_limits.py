"""A token may ask so many times a minute, counted once for every server."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.access import limits
from review.access.models import RequestCount
from review.access.refusals import RateLimited
from tests.db.access.house import House


def test_a_token_that_asks_too_often_is_told_when_to_come_back(house: House, settings: Any) -> None:
    settings.HUQAN_RATE_PER_MINUTE = 3
    token, other = house.mint().token, house.mint().token
    with time_machine.travel("2026-12-01T10:00:20Z", tick=False) as clock:
        for _ in range(3):
            limits.count_request(token, now=timezone.now())
        with pytest.raises(RateLimited) as refused:
            limits.count_request(token, now=timezone.now())
        assert refused.value.retry_after == 40
        limits.count_request(other, now=timezone.now())
        clock.shift(40)
        limits.count_request(token, now=timezone.now())


def test_earlier_minutes_are_swept_away(house: House) -> None:
    token = house.mint().token
    with time_machine.travel("2026-12-01T10:00:20Z", tick=False) as clock:
        for _ in range(3):
            limits.count_request(token, now=timezone.now())
            limits.count_request(token, now=timezone.now())
            clock.shift(60)
    assert [row.count for row in RequestCount.objects.filter(token=token)] == [2]


def test_counting_a_request_changes_one_row_by_one_statement(house: House) -> None:
    token, now = house.mint().token, timezone.now()
    limits.count_request(token, now=now)
    with CaptureQueriesContext(connection) as asked:
        limits.count_request(token, now=now)
    changing = [query["sql"] for query in asked if "access_requestcount" in query["sql"]]
    assert len(changing) == 1


def test_reading_goes_on_where_counting_cannot_be_written(
    house: House, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HUQAN_RATE_PER_MINUTE = 0
    token, now = house.mint().token, timezone.now()
    with pytest.raises(RateLimited):
        limits.count_request(token, now=now)

    def fails() -> None:
        raise OperationalError("attempt to write a readonly database")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", fails)
        limits.count_request(token, now=now)
