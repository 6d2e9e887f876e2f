"""Two servers on one database are one console: whoever is slower is told so, by either."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.faults.house import House, at_once
from tests.support.console import Agent, Console

ROUNDS = 15


@pytest.fixture(scope="module")
def other(house: House) -> Iterator[Console]:
    with house.twin() as other:
        yield other


def test_of_two_approvals_on_two_servers_one_is_recorded(house: House, other: Console) -> None:
    people = house.alice, house.carol.moved_to(other)
    for _ in range(ROUNDS):
        proposal = house.proposed()
        forms = [person.ballot(proposal["id"]) for person in people]
        answers = at_once(
            *[partial(person.cast, proposal["id"], form) for person, form in zip(people, forms, strict=True)]
        )
        assert sorted(answer.status for answer in answers) == [200, 409]
        assert house.status(proposal) == "approved"


def test_of_two_who_redeem_on_two_servers_one_gets_the_permit(house: House, other: Console) -> None:
    agents = house.agent(), Agent(other.url, house.agent().token)
    for _ in range(ROUNDS):
        proposal = house.proposed()
        assert house.alice.decide(proposal["id"]).status == 200
        answers = at_once(*[partial(house.redeem, proposal, agent) for agent in agents])
        assert sorted((answer.status, answer.code or "") for answer in answers) == [
            (200, ""),
            (409, "permit_spent"),
        ]


def test_one_key_on_two_servers_makes_one_proposal(house: House, other: Console) -> None:
    agents = house.agent(), Agent(other.url, house.agent().token)
    for number in range(ROUNDS):
        key = f"two servers {number}"
        answers = at_once(*[partial(house.refund, agent, key, order=key) for agent in agents])
        assert sorted(answer.status for answer in answers) == [200, 201]
        assert len({answer.json()["id"] for answer in answers}) == 1
