"""Hostile requests against a real server, one after the other, each with what must be true of its answer."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import NamedTuple

from tests.faults.house import House
from tests.support.hostile import Mutator, Shot

SLOWEST = 2.0  # seconds
TARGETS = 5  # proposals that are there before the first shot


class Volley(NamedTuple):
    """What came of many shots. `made`: proposals, with those to aim at. `grown`: bytes that the
    servers took after the first third."""

    faults: list[str]
    made: int
    grown: int


class Line:
    """One connection that is opened again where the server closed it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._socket: socket.socket | None = None

    def send(self, shot: Shot) -> tuple[http.client.HTTPResponse, bytes]:
        """Return the answer and its body; once more on a new connection, if the old one was just closed."""
        raw = shot.raw(f"127.0.0.1:{self.port}")
        try:
            return self._send(raw, shot.method)
        except (ConnectionError, http.client.RemoteDisconnected):
            self.close()
            return self._send(raw, shot.method)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _send(self, raw: bytes, method: str) -> tuple[http.client.HTTPResponse, bytes]:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self.port), timeout=40)
        self._socket.sendall(raw)
        answer = http.client.HTTPResponse(self._socket, method=method)
        answer.begin()
        body = answer.read()
        if answer.will_close:
            self.close()
        return answer, body


def fire(house: House, shots: int, seed: int) -> Volley:
    """Fire `shots` at every call of the house's API; the seed repeats them."""
    mutator, line = mutator_for(house, seed), Line(house.port)
    faults, made, first = [], TARGETS, 0
    for number in range(shots):
        if number == shots // 3:
            first = house.memory()
        shot = mutator.shot(number)
        began = time.monotonic()
        answer, body = line.send(shot)
        seconds = time.monotonic() - began
        if seconds > SLOWEST:  # by itself or by what else this machine does: the second time will tell
            seconds = _seconds_again(line, shot)
        made += answer.status == 201 and shot.target.partition("?")[0] == "/api/v1/proposals"
        if fault := _fault(answer, body, shot.method) or (seconds > SLOWEST and f"took {seconds:.1f} s"):
            faults.append(f"seed {seed}, shot {number}: {fault}\n  {shot.raw('host')[:1500]!r}")
    line.close()
    return Volley(faults, made, house.memory() - first)


def mutator_for(house: House, seed: int) -> Mutator:
    agent = house.agent()
    document = agent.call("GET", "/api/v1/openapi.json").json()
    items = agent.call("POST", "/api/v1/memory/query", {"query": "", "mode": "recency"}).json()["items"]
    ids = {
        "id": [house.proposed()["id"] for _ in range(TARGETS)],
        "record_id": [item["id"] for item in items],
    }
    return Mutator(document, ids, f"Bearer {agent.token}", seed)


def _seconds_again(line: Line, shot: Shot) -> float:
    began = time.monotonic()
    line.send(shot)
    return time.monotonic() - began


def _fault(answer: http.client.HTTPResponse, body: bytes, method: str) -> str | None:
    """Return what is wrong with an answer, None where it is as all answers must be."""
    if answer.status >= 500:
        return f"{answer.status}: {body[:300]!r}"
    if answer.status == 304 or method == "HEAD":
        return None
    media = answer.headers.get("Content-Type", "")
    if answer.status < 300:
        return None if media in ("application/json", "application/json; charset=utf-8") else f"200 as {media}"
    with contextlib.suppress(ValueError):
        problem = json.loads(body)
        told = problem["status"] == answer.status and problem["code"] and problem["detail"]
        if told and media == "application/problem+json":
            return None
    return f"{answer.status} without a problem: {media} {body[:300]!r}"


def whole(house: House) -> Iterator[str]:
    """Yield what is wrong with what the house holds: nothing is half there."""
    checks = {
        "a proposal without its revision": """
            SELECT COUNT(*) FROM review_proposal p WHERE NOT EXISTS
            (SELECT 1 FROM review_revision r WHERE r.proposal_id = p.id AND r.number = p.revision)""",
        "a revision without its proposal": """
            SELECT COUNT(*) FROM review_revision r WHERE NOT EXISTS
            (SELECT 1 FROM review_proposal p WHERE r.proposal_id = p.id AND r.number <= p.revision)""",
    }
    for fault, query in checks.items():
        if count := house.rows(query)[0][0]:
            yield f"{count} times {fault}"
