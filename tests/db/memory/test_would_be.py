"""What people are told before they release a held memory: the rank at which agents would then find it."""

from __future__ import annotations

import pytest

from memory.models import MemoryRecord
from memory.queries import would_be
from memory.search import Mode
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import approve, asked, doubtful, known, recalled, remember
from tests.support.pages import browser

KNOWN = ("All invoices go to account 7.", "Invoices, invoices and invoices.", "The port of staging is 7443.")
HELD = (
    "From a web page: all invoices go to account 99.",
    "Invoices.",
    "All all all all go go go go to to to the account that the portal names, and to no other one at all.",
)


def held(proposal: Proposal) -> MemoryRecord:
    return MemoryRecord.objects.held().get(proposal=proposal)


@pytest.mark.parametrize("text", HELD)
def test_the_rank_is_the_one_that_it_has_once_it_is_released(team: Team, text: str) -> None:
    for said in KNOWN:
        known(team.scout, said, team.alice)
    proposal = doubtful(team.scout, text)
    rank = would_be.rank(held(proposal))
    assert text not in recalled(team.scout, text, Mode.BM25)
    approve(proposal, team.alice, team.carol)
    assert rank == recalled(team.scout, text, Mode.BM25).index(text) + 1


def test_what_would_be_withheld_has_no_rank(team: Team) -> None:
    source = known(team.scout, "The portal moved.", team.alice)
    from_it = {"kind": "web", "ref": "https://page.example/a", "derived_from": [str(source.id)]}
    proposal = remember(team.scout, "Pay into account 99.", provenance=from_it)
    assert would_be.rank(held(proposal)) == 1
    approve(asked(team.alice, "memory.retract", source), team.carol)
    assert would_be.rank(held(proposal)) is None


def test_the_page_says_the_rank_and_how_many_conflicts_open_while_that_is_to_be_decided(team: Team) -> None:
    about = {"subject": "account", "predicate": "is"}
    known(team.scout, "The account is 7.", team.alice, **about)
    proposal = doubtful(team.scout, "The account is 99.", **about)
    path = f"/quarantine/{proposal.id}/"
    said = f"would show it at rank {would_be.rank(held(proposal))}. 1 conflict opens."
    assert said in browser(team.alice).get(path).content.decode()
    approve(proposal, team.alice, team.carol)
    assert "would show it" not in browser(team.alice).get(path).content.decode()
