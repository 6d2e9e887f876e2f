"""One round of the matrix: two acts on one proposal at once, held against every order in which they may stand.

What is legal is not written down anywhere: the acts are done one after the other, in each order, on proposals of
their own, and a race may come out as one of those did and in no other way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import combinations
from typing import Any, NamedTuple

from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.audit.actions import Action
from review.audit.models import Entry, Head
from review.models import Decision, Permit, PolicyVersion, Proposal
from tests.db.races.acts import ACTS, House, Place, Scene, Step
from tests.support.crowd import Crowd, told
from tests.support.review_acts import at

STEPS = {"change_the_rule": 2}
Ground = Callable[[House], Proposal]
REFUSED = (Action.DECISION_REFUSED, Action.PROPOSAL_REFUSED, Action.PERMIT_REFUSED)
A_WHILE = timedelta(minutes=1)
LOSSES = (Action.MEMBERSHIP_REVOKED, Action.PERSON_DISABLED)


class Outcome(NamedTuple):
    """What both were told, how everything stands, and what the log says: what changed something in its order.

    An attempt that was refused changed nothing; its entry is made after the refusal, when others may have gone on.
    """

    told: tuple[str, ...]
    stands: tuple[Any, ...]
    changed: tuple[str, ...]
    refused: tuple[str, ...]


class Pair(NamedTuple):
    """Two acts by name, in the state in which they meet the proposal; in `voted` ones alice's vote is at stake."""

    ground: Ground
    first: str
    second: str
    voted: bool = False

    def scene(self) -> tuple[House, Scene, tuple[Sequence[Step], Sequence[Step]]]:
        house = House.new()
        with at(timezone.now() - A_WHILE):  # a new revision has another end than this one, in whole seconds
            scene = Scene(house, self.ground(house))
        return house, scene, (self._ready(scene, 0), self._ready(scene, 1))

    def _ready(self, scene: Scene, number: int) -> Sequence[Step]:
        names = (self.first, self.second)
        rival = ACTS[names[1 - number]].right(Place(1 - number, ""))
        at_stake = "alice" if self.voted and names[1 - number] == "approve" else rival
        return ACTS[names[number]].ready(scene, Place(number, at_stake))

    def legal(self) -> Iterator[Outcome]:
        """Each way in which it comes out when nothing happens at the same time."""
        lengths = (STEPS.get(self.first, 1), STEPS.get(self.second, 1))
        return map(self._in_order, _orders(*lengths))

    def raced(self, crowd: Crowd) -> Outcome:
        """Do both at once."""
        house, scene, (one, other) = self.scene()
        begins = Head.objects.get().size
        results = crowd.at_once(lambda: _all_of(one), lambda: _all_of(other))
        return _outcome(house, scene, results, begins)

    def _in_order(self, order: Sequence[int]) -> Outcome:
        house, scene, steps = self.scene()
        begins, results, left = Head.objects.get().size, [None, None], [list(part) for part in steps]
        for place in order:
            if not isinstance(results[place], Refusal):
                results[place] = _tried(left[place].pop(0))
        return _outcome(house, scene, results, begins)


def _orders(one: int, other: int) -> Iterator[list[int]]:
    """Every order in which the steps of both can stand, as the place of each."""
    for taken in combinations(range(one + other), one):
        yield [0 if position in taken else 1 for position in range(one + other)]


def _all_of(steps: Sequence[Step]) -> None:
    for step in steps:
        step()


def _tried(step: Step) -> Any:
    try:
        return step()
    except Refusal as refusal:
        return refusal


def _outcome(house: House, scene: Scene, results: Sequence[Any], begins: int) -> Outcome:
    for result in results:
        if isinstance(result, Refusal) and result.status >= 500:
            raise result  # a deadlock is one of these; its cause says so
    entries = list(Entry.objects.filter(seq__gte=begins).order_by("seq"))
    _must_be_right(entries)
    lines = [(entry.action, _line(entry, house.names)) for entry in entries]
    return Outcome(
        tuple(map(told, results)),
        _stands(scene.proposal),
        tuple(line for action, line in lines if action not in REFUSED),
        tuple(sorted(line for action, line in lines if action in REFUSED)),
    )


def _line(entry: Entry, names: dict[str, str]) -> str:
    code = json.loads(entry.canonical).get("after", {}).get("code", "")
    return f"{entry.action} {names.get(entry.person or '', '')} {code}".strip()


def _stands(proposal: Proposal) -> tuple[Any, ...]:
    proposal.refresh_from_db()
    votes = Decision.objects.filter(proposal=proposal, binding=proposal.binding, verdict="approve").count()
    permits = Permit.objects.filter(proposal=proposal).values_list("voided_at", flat=True)
    return (
        proposal.status,
        proposal.revision,
        proposal.approvals_given,
        votes,
        tuple(voided is not None for voided in permits),
        tuple((record.trust, record.lifecycle) for record in proposal.records.all()),
        PolicyVersion.objects.filter(workspace=proposal.workspace_id).count(),
    )


def _must_be_right(entries: Sequence[Entry]) -> None:
    """Nobody does anything in the log after it says that he lost the right to, nor does an agent that was stopped."""
    gone: set[str | None] = set()
    for entry in entries:
        if entry.action not in REFUSED:
            actor = entry.person or (entry.agent if '"kind":"agent"' in entry.canonical else "")
            assert actor not in gone, f"{entry.action} after the right to it was lost"
        if entry.action in (*LOSSES, Action.AGENT_STOPPED):
            gone.add(entry.object_id)
