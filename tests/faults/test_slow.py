"""Clients who are slow, silent or waiting keep nobody else waiting."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from tests.faults.house import House
from tests.support.console import fetch

AT_ONCE = 3.0  # seconds; generous for what takes some milliseconds


@contextmanager
def silent(house: House, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open `count` connections that say `said` and then nothing."""
    with ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection(("127.0.0.1", house.port))) for _ in range(count)
        ]
        for one in opened:
            one.sendall(said)
        yield opened


@contextmanager
def polls(house: House, count: int) -> Iterator[None]:
    """Have `count` clients wait for a proposal that nobody decides."""
    proposal = house.proposed()
    path, token = f"/api/v1/proposals/{proposal['id']}", house.agent().token
    asked = (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nPrefer: wait=25\r\n\r\n"
    )
    with silent(house, count, asked.encode()):
        yield


def must_answer_everybody_else(house: House) -> None:
    began = time.monotonic()
    proposal = house.proposed()
    assert house.alice.decide(proposal["id"]).status == 200
    assert house.redeem(proposal).status == 200
    assert fetch(f"{house.url}/readyz").status == 200
    assert time.monotonic() - began < AT_ONCE


HEAD = b"POST /api/v1/proposals HTTP/1.1\r\nHost: localhost\r\n"
BODY = HEAD + b"Content-Length: 1000\r\n\r\n{"


@pytest.mark.parametrize("said", [b"", HEAD, BODY], ids=["silent", "half a head", "half a body"])
def test_three_hundred_connections_that_send_no_request_stop_nobody(house: House, said: bytes) -> None:
    with silent(house, 300, said):
        must_answer_everybody_else(house)


def test_who_sends_byte_after_byte_stops_nobody_and_is_hung_up_on(house: House) -> None:
    over = threading.Event()
    with silent(house, 100, HEAD) as slow:

        def drip() -> None:
            while not over.wait(0.2):
                for one in slow:
                    with suppress(OSError):
                        one.send(b"X")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            must_answer_everybody_else(house)
            slow[0].settimeout(30)
            with suppress(ConnectionError):
                assert slow[0].recv(1) == b""
        finally:
            over.set()
            dripping.join()


def test_forty_who_wait_for_a_decision_stop_nobody(house: House) -> None:
    with polls(house, 40):
        must_answer_everybody_else(house)
