"""The same thing is made twice in the same moment: it is there once."""

from __future__ import annotations

from functools import partial

from memory.models import MemoryRecord, RecordEvidence
from review.audit.actions import Action
from review.audit.models import Entry
from review.models import IdempotencyKey, Proposal
from review.services.propose import Draft, propose
from tests.db.races.stage import FEW, ROUNDS, Stage, deciding
from tests.support.memory_acts import remember


def test_one_key_sent_twice_makes_one_proposal(stage: Stage) -> None:
    for number in range(ROUNDS):
        draft = Draft("payments.refund", {"order": number}, key=f"order {number}", body_digest="the same")
        act = partial(propose, draft, by=stage.scout)
        first, second = stage.race(act, act)
        assert first.proposal == second.proposal
        assert first.replayed is not second.replayed
    stage.must_have_gone(("done", "done"))
    assert Proposal.objects.count() == IdempotencyKey.objects.count() == ROUNDS
    assert Entry.objects.filter(action=Action.PROPOSAL_PROPOSED).count() == ROUNDS


def test_one_key_sent_with_two_bodies_makes_one_proposal(stage: Stage) -> None:
    for number in range(FEW):
        drafts = [
            Draft("payments.refund", {"order": number, "way": way}, key=f"order {number}", body_digest=way)
            for way in ("card", "cash")
        ]
        stage.race(*[partial(propose, draft, by=stage.scout) for draft in drafts])
    stage.must_have_gone(("done", "key_reused"), ("key_reused", "done"))
    assert Proposal.objects.count() == FEW


def test_one_value_approved_twice_at_once_is_one_record_with_two_sources(stage: Stage) -> None:
    for number, first in enumerate(stage.memories()):
        second = remember(stage.scout, f"DOOR {number} opens to the north!")
        results = stage.race(deciding(stage.alice, first), deciding(stage.carol, second))
        outcomes = [result.proposal.outcome for result in results]
        assert {outcome["admission"] for outcome in outcomes} == {"allow", "corroborated"}
        assert len({outcome["record"] for outcome in outcomes}) == 1
    stage.must_have_gone(("done", "done"))
    assert MemoryRecord.objects.count() == RecordEvidence.objects.count() == ROUNDS
