"""The server is killed in the middle of everything: what it said it did is done, once."""

from __future__ import annotations

import random

from tests.faults.burst import Burst
from tests.faults.house import READY_SECONDS, House

ROUNDS = 5


def test_what_was_acknowledged_lasts_and_happens_once(house: House) -> None:
    for turn in range(ROUNDS):
        burst = Burst(house)
        burst.run(random.uniform(0, 0.6))
        if turn == ROUNDS - 1:
            cut_short(house)
        assert house.until_ready() < READY_SECONDS
        assert burst.decided, "nothing was acknowledged before the kill"
        burst.must_have_lasted()
    house.must_be_whole()


def cut_short(house: House) -> None:
    """Take the end of the last note off the witness file, as a power cut would."""
    witness = house.witness
    witness.write_bytes(witness.read_bytes()[:-40])
