"""The cast of a race, the calls that it is about, and what must be true once all rounds are run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Count

from review.access.actors import PersonActor
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.verify import verify
from review.models import Proposal
from review.services.decide import Decided, decide
from tests.support import factories
from tests.support.crowd import Crowd, told
from tests.support.memory_acts import doubtful, remember
from tests.support.review_acts import ballot, call, mail, vote

ROUNDS = int(os.environ.get("RACE_ROUNDS", "200"))
FEW = max(ROUNDS // 10, 1)  # of a race that differs little from one that is run in full
POLICY = {
    **factories.POLICY,
    "rules": [
        *factories.POLICY["rules"],
        {"tool": "calendar.read", "route": "allow", "risk": "low"},
    ],
}
ENDS = (
    Action.PROPOSAL_EXECUTED,
    Action.PROPOSAL_REJECTED,
    Action.PROPOSAL_WITHDRAWN,
    Action.PROPOSAL_EXPIRED,
    Action.PERMIT_ISSUED,
)
"""What takes a proposal out of everybody's hands: of these each has one entry at most."""


class Stage(Crowd):
    """Alice and carol review; bob owns scout. `seen` counts how the rounds went, by what each side was told."""

    def __init__(self) -> None:
        super().__init__(2)
        acme = factories.workspace("acme", POLICY)
        self.alice = factories.person("alice", acme, ["reviewer"])
        self.carol = factories.person("carol", acme, ["reviewer"])
        self.bob = factories.person("bob", acme, ["reviewer"])
        self.scout = factories.agent("scout", acme, owner=self.bob)
        self.seen: Counter[tuple[str, ...]] = Counter()

    def memories(self, rounds: int = ROUNDS) -> Iterator[Proposal]:
        """A memory a round that one person can approve; what is approved is carried out at once."""
        for number in range(rounds):
            yield remember(self.scout, f"Door {number} opens to the north.")

    def held(self, rounds: int = ROUNDS) -> Iterator[Proposal]:
        """A memory a round that is held, and that alice has agreed to release."""
        for number in range(rounds):
            proposal = doubtful(self.scout, f"Door {number} opens to the north.")
            yield vote(self.alice, proposal).proposal

    def mails(self, rounds: int = ROUNDS) -> Iterator[Proposal]:
        """A mail a round, which two people must approve."""
        for number in range(rounds):
            yield mail(self.scout, run_id="race", tool_call_id=str(number))

    def approved(self, rounds: int = ROUNDS) -> Iterator[Proposal]:
        """A call a round that the policy has approved, for scout to run."""
        for number in range(rounds):
            yield call(self.scout, "calendar.read", {"day": number})

    def race(self, *acts: Callable[[], Any]) -> list[Any]:
        """Run one round, and return what each side got."""
        results = self.at_once(*acts)
        self.seen[tuple(told(result) for result in results)] += 1
        return results

    def must_have_gone(self, *ways: tuple[str, ...]) -> None:
        """Every round went in one of `ways`."""
        assert set(self.seen) <= set(ways), self.seen
        assert self.seen

    def must_be_sound(self) -> None:
        """No proposal ended twice, and log, chain and states agree."""
        ended = Entry.objects.filter(action__in=ENDS).values("proposal").annotate(times=Count("seq"))
        assert not ended.filter(times__gt=1).exists()
        report = verify()
        assert report.ok, report


def deciding(
    person: PersonActor, proposal: Proposal, verdict: str = "approve", **changes: Any
) -> Callable[[], Decided]:
    """Let `person` read and fill in the form now; what is returned sends it."""
    form = ballot(person, proposal, verdict, **changes)
    return lambda: decide(proposal.id, by=person, ballot=form)


def ends_of(proposal: Proposal) -> list[str]:
    """Return the actions by which `proposal` ended, as the log has them."""
    return list(
        Entry.objects.filter(proposal=str(proposal.id), action__in=ENDS).values_list("action", flat=True)
    )
