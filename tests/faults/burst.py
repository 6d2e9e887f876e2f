"""A burst of proposals and decisions, ended in its middle, and what must be true of it afterwards."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from uuid import uuid4

from tests.faults.house import House
from tests.support.console import Answer

TWICE = (
    "SELECT proposal FROM audit_entry WHERE action = 'proposal.proposed' GROUP BY 1 HAVING COUNT(*) > 1",
    """
    SELECT proposal FROM audit_entry
    WHERE action IN ('proposal.executed', 'proposal.rejected', 'proposal.withdrawn', 'proposal.expired')
    GROUP BY 1 HAVING COUNT(*) > 1
    """,
    """
    SELECT value_key FROM memory_memoryrecord WHERE trust = 'trusted' AND lifecycle = 'active'
    GROUP BY 1 HAVING COUNT(*) > 1
    """,
    "SELECT proposal_id FROM review_decision GROUP BY proposal_id, person_id, binding HAVING COUNT(*) > 1",
)
"""What happened more than once, though it may only once."""
LOST = (OSError, HTTPException)  # the server went away before it answered


class Burst:
    """Two agents' programs propose and two people decide, all at once, until the server is killed.

    `sent` has everything that was sent under its key, `acknowledged` the proposals that were answered; `cast` has
    every form that was sent and `decided` those that were answered as recorded.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self.sent: dict[str, dict[str, Any]] = {}
        self.acknowledged: dict[str, str] = {}
        self.cast: dict[str, tuple[Any, dict[str, str]]] = {}
        self.decided: set[str] = set()
        self._over = threading.Event()

    def run(self, seconds: float) -> None:
        """Go on for `seconds` from the first acknowledged decision, then kill the server."""
        acts = [self._propose, self._propose, self._decide(self.house.alice), self._decide(self.house.carol)]
        threads = [threading.Thread(target=self._until_killed, args=[act]) for act in acts]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + 30
        while not self.decided and time.monotonic() < ends:
            time.sleep(0.005)
        time.sleep(seconds)
        self.house.kill()
        self._over.set()
        for thread in threads:
            thread.join()

    def _until_killed(self, act: Callable[[], None]) -> None:
        with suppress(*LOST):
            while not self._over.is_set():
                act()

    def _propose(self) -> None:
        key = uuid4().hex
        content = {"content": f"Door {key} opens to the north.", "provenance": {"kind": "user", "ref": key}}
        self.sent[key] = content
        answer = self._send(key)
        assert answer.status == 201, answer.body
        self.acknowledged[key] = answer.json()["id"]

    def _send(self, key: str) -> Answer:
        body = {"tool": "memory.write", "arguments": self.sent[key]}
        return self.house.agent().call("POST", "/api/v1/proposals", body, {"Idempotency-Key": key})

    def _decide(self, person: Any) -> Callable[[], None]:
        def one() -> None:
            open_ones = [one for one in list(self.acknowledged.values()) if one not in self.cast]
            if not open_ones:
                time.sleep(0.005)
                return
            proposal = random.choice(open_ones)
            ballot = person.ballot(proposal)
            if self.cast.setdefault(proposal, (person, ballot))[1] is ballot:
                answer = person.cast(proposal, ballot)
                assert answer.status == 200, answer.body
                self.decided.add(proposal)

        return one

    def must_have_lasted(self) -> None:
        """Nothing that was acknowledged is lost, and sending everything once more does nothing twice."""
        for proposal in self.decided:
            assert self.house.status({"id": proposal}) == "executed"
        made = {key: self._send(key) for key in self.sent}
        for key, answer in made.items():
            again = self.acknowledged.get(key)
            assert answer.status in ((200,) if again else (200, 201)), answer.body
            assert again in (None, answer.json()["id"])
        for proposal, (person, ballot) in self.cast.items():
            assert person.cast(proposal, ballot).status == 200
            assert self.house.status({"id": proposal}) == "executed"
        self._must_have_happened_once({answer.json()["id"] for answer in made.values()})

    def _must_have_happened_once(self, made: set[str]) -> None:
        assert [self.house.rows(query) for query in TWICE] == [[]] * len(TWICE)
        assert len(made) == len(self.sent)
