"""Deciding: one person's verdict on exactly what he was shown, and what the votes add up to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from huqan_site.lib.canonical_json import JSON
from review.domain.binding import Kind
from review.domain.independence import Electorate, PersonId
from review.domain.policy import GroupNeed, Risk, Rule, text_to_type
from review.domain.refusals import (
    AlreadyDecided,
    BadVerdict,
    ConfirmMismatch,
    Expired,
    PolicyChanged,
    ReasonRequired,
    SamePerson,
    StaleBinding,
    StepUpRequired,
    Unsatisfiable,
)
from review.domain.status import Status, current

FRESH = timedelta(minutes=5)
"""How old a factor may be where the rule asks for a step-up."""


class Verdict(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request_changes"


OPEN_TO: Mapping[Status, tuple[Verdict, ...]] = {
    Status.PENDING: tuple(Verdict),
    Status.QUARANTINED: (Verdict.APPROVE, Verdict.REJECT),
    Status.APPROVED: (Verdict.REJECT,),
}
"""The verdicts that each state still takes: what is held is released or discarded, an approval is voided."""


@dataclass(frozen=True)
class Vote:
    """A decision that was recorded: whose, on which binding, with which verdict."""

    person: PersonId
    binding: str
    verdict: str


@dataclass(frozen=True)
class Case:
    """A proposal as it stands inside the deciding transaction.

    `recomputed` is the binding of the stored text, `policy_bound` and `policy_now` are the digests of the
    tool's rule at submission and now. `rule` is what must be met: the tool's rule, or while the proposal is
    quarantined that of `memory.release`, whose own digests are `deciding_bound` and `deciding_now`. `arguments`
    are those of the current revision; a change of the policy is `overtaken` once another came into force, and
    one of a record `outdated` once something else happened to that record.
    """

    status: Status
    revision: int
    binding: str
    recomputed: str
    policy_bound: str
    policy_now: str
    expires_at: datetime | None
    rule: Rule
    arguments: JSON
    electorate: Electorate
    votes: tuple[Vote, ...] = ()
    deciding_bound: str = ""
    deciding_now: str = ""
    overtaken: bool = False
    outdated: bool = False

    @property
    def rule_changed(self) -> bool:
        """Whether a rule that was bound is not the one that holds now, and the proposal not bound anew yet."""
        return self.policy_bound != self.policy_now or self.deciding_bound != self.deciding_now


@dataclass(frozen=True)
class GroupTally:
    """How far one group is met. It `blocks` while too few who could approve belong to it (I11)."""

    name: str
    needed: int
    given: int
    blocks: bool


@dataclass(frozen=True)
class Tally:
    """Who approves the current binding, each of them checked again at the time of counting (I9)."""

    required: int
    approvers: frozenset[PersonId]
    groups: tuple[GroupTally, ...]

    @property
    def given(self) -> int:
        return len(self.approvers)

    @property
    def missing(self) -> int:
        """How many more people it takes at least, each of them in a group that still lacks one."""
        in_groups = sum(group.needed - group.given for group in self.groups)
        return max(self.required - self.given, in_groups)

    @property
    def is_met(self) -> bool:
        return self.missing <= 0


@dataclass(frozen=True)
class Ruling:
    """What a verdict leads to; `tally` counts it already, if it was an approval."""

    status: Status
    verdict: Verdict
    tally: Tally


def decide(
    case: Case,
    *,
    approver: PersonId,
    verdict: str,
    binding: str | None,
    revision: int | None,
    reason: str,
    confirm: str,
    factor_at: datetime | None,
    now: datetime,
) -> Ruling:
    """Return what becomes of `case` once `approver` has given `verdict`.

    An approval counts for the exact bytes the approver saw, once per person. `binding` and `revision` are
    those the form carried, None where its nonce is missing or foreign; `factor_at` is when he last proved
    who he is. The first refusal that applies answers, in the order of the contract.
    Source: NIST SP 800-53 AC-3(2), AC-5, AU-10(4).

    Raises: BadVerdict, AlreadyDecided, Expired, NotEligible, RoleTooNew, SelfApproval, PolicyChanged,
    StaleBinding, SamePerson, StepUpRequired, ReasonRequired, ConfirmMismatch.
    """
    chosen = _verdict(verdict, case)
    _refuse_ended(case, chosen, now)
    _refuse_person(case, chosen, approver, now)
    _refuse_changed(case, chosen, binding, revision)
    if chosen is Verdict.APPROVE:
        _refuse_approval(case, approver, factor_at, now)
    if needs_reason(case.rule, chosen) and not says_something(reason):
        raise ReasonRequired
    if chosen is Verdict.APPROVE and case.rule.confirm and confirm != text_to_type(case.rule, case.arguments):
        raise ConfirmMismatch
    return _ruling(case, chosen, approver, now)


def _verdict(word: str, case: Case) -> Verdict:
    try:
        verdict = Verdict(word)
    except ValueError:
        raise BadVerdict from None
    if verdict is Verdict.REQUEST_CHANGES and case.status == Status.QUARANTINED:
        raise BadVerdict("What is held can be released or discarded, not sent back.")
    return verdict


def _refuse_ended(case: Case, verdict: Verdict, now: datetime) -> None:
    status = current(case.status, case.expires_at, now)
    if status is Status.EXPIRED:
        raise Expired(proposal_status=status)
    if verdict not in OPEN_TO.get(status, ()):
        raise AlreadyDecided(_ENDED.get(status), proposal_status=status)


_ENDED = {
    Status.CHANGES_REQUESTED: "Changes were requested. Decide on the next revision.",
    Status.APPROVED: "It is approved already. Until something runs it, it can still be rejected.",
}


def _refuse_person(case: Case, verdict: Verdict, person: PersonId, now: datetime) -> None:
    """Approving asks for independence, the other verdicts only for the role (I10)."""
    if verdict is Verdict.APPROVE:
        objection = case.electorate.objection(person, now)
        if objection is not None:
            raise objection
    elif case.electorate.membership(person, now) is None:
        raise case.electorate.not_eligible()


OVERTAKEN = (
    "Another version of the policy came into force after this was proposed, and this would undo it. Propose it "
    "anew from the version that runs."
)


OUTDATED = (
    "What this would change is not what it was when it was proposed; its page says what happened since. Propose it "
    "anew on what stands now, or reject it."
)


def _refuse_changed(case: Case, verdict: Verdict, binding: str | None, revision: int | None) -> None:
    if case.rule_changed:
        raise PolicyChanged
    if case.overtaken and verdict is Verdict.APPROVE:
        raise PolicyChanged(OVERTAKEN)
    if case.outdated and verdict is Verdict.APPROVE:
        raise StaleBinding(OUTDATED, revision=case.revision)
    if not binding == case.binding == case.recomputed or revision != case.revision:
        raise StaleBinding(revision=case.revision)


def _refuse_approval(case: Case, person: PersonId, factor_at: datetime | None, now: datetime) -> None:
    if person in _approved_by(case):
        raise SamePerson
    if case.rule.step_up and (factor_at is None or now - factor_at > FRESH):
        raise StepUpRequired


def needs_reason(rule: Rule, verdict: Verdict) -> bool:
    """Whether the verdict has to come with a reason."""
    return verdict != Verdict.APPROVE or rule.risk is Risk.HIGH


def says_something(reason: str) -> bool:
    """Whether a reason has a character that can be seen."""
    return any(character.isprintable() and not character.isspace() for character in reason)


def _ruling(case: Case, verdict: Verdict, person: PersonId, now: datetime) -> Ruling:
    if verdict is not Verdict.APPROVE:
        status = Status.REJECTED if verdict is Verdict.REJECT else Status.CHANGES_REQUESTED
        return Ruling(status, verdict, tally(case, now))
    counted = tally(case, now, person)
    return Ruling(_granted(case) if counted.is_met else Status(case.status), verdict, counted)


def _granted(case: Case) -> Status:
    """An outside tool waits to be redeemed; what the console carries out happens with the last vote."""
    return Status.APPROVED if case.electorate.kind == Kind.TOOL_CALL else Status.EXECUTED


def _approved_by(case: Case) -> frozenset[PersonId]:
    return frozenset(
        v.person for v in case.votes if v.verdict == Verdict.APPROVE and v.binding == case.binding
    )


def tally(case: Case, now: datetime, also: PersonId | None = None) -> Tally:
    """Return the approvals that count at `now`, with that of `also` if he is giving it.

    Distinct people on the current binding, each re-checked: who has left, or became an owner since, counts
    no longer.
    """
    voted = _approved_by(case) | ({also} if also else set())
    approvers = frozenset(person for person in voted if case.electorate.objection(person, now) is None)
    return Tally(case.rule.people, approvers, group_tallies(case.rule, case.electorate, approvers, now))


def group_tallies(
    rule: Rule, electorate: Electorate, approvers: Collection[PersonId], now: datetime
) -> tuple[GroupTally, ...]:
    """Return how far `approvers` meet each group of `rule`, nobody of them counted for two."""
    given = _assigned(rule.groups, electorate, approvers, now)
    possible = _assigned(rule.groups, electorate, electorate.eligible(now), now)
    return tuple(
        GroupTally(group.name, group.approvals, given[group.name], possible[group.name] < group.approvals)
        for group in rule.groups
    )


def _assigned(
    groups: Iterable[GroupNeed], electorate: Electorate, people: Collection[PersonId], now: datetime
) -> dict[str, int]:
    """Return how many places of each group `people` can fill, nobody filling two.

    A maximum matching by augmenting paths, so that it never matters who voted first.
    """
    groups = tuple(groups)
    places = [group.name for group in groups for _ in range(group.approvals)]
    member_of = {person: electorate.groups(person, now) for person in sorted(people, key=str)}
    seated: dict[int, PersonId] = {}

    def seat(person: PersonId, tried: set[int]) -> bool:
        for place, name in enumerate(places):
            if name not in member_of[person] or place in tried:
                continue
            tried.add(place)
            if place not in seated or seat(seated[place], tried):
                seated[place] = person
                return True
        return False

    for person in member_of:
        seat(person, set())
    return {group.name: sum(places[place] == group.name for place in seated) for group in groups}


def refuse_unsatisfiable(rule: Rule, electorate: Electorate, now: datetime) -> int:
    """Return how many people could decide, if that is enough for the rule and each of its groups.

    Raises: Unsatisfiable.
    """
    eligible = electorate.eligible(now)
    if len(eligible) < rule.people:
        raise Unsatisfiable(eligible=len(eligible), required=rule.people)
    for group in group_tallies(rule, electorate, eligible, now):
        if group.blocks:
            sentence = (
                f"Too few independent people belong to the group {group.name}. Ask a manager to add some."
            )
            raise Unsatisfiable(sentence, eligible=len(eligible), required=rule.people)
    return len(eligible)


def why_not(case: Case, person: PersonId, now: datetime) -> str | None:
    """Return the sentence, for lists and buttons, that says why `person` need not or cannot approve."""
    objection = case.electorate.objection(person, now)
    if objection is not None:
        return objection.detail
    if case.rule_changed or case.overtaken:
        return OVERTAKEN if case.overtaken else PolicyChanged.detail
    if case.outdated:
        return OUTDATED
    counted = tally(case, now)
    waiting = next((group.name for group in counted.groups if group.given < group.needed), None)
    if person in counted.approvers:
        return f"You approved this. {_still(counted, waiting)}"
    if waiting and tally(case, now, person).missing == counted.missing:
        return f"Waits for the group {waiting}. You are not in it."
    return None


def _still(counted: Tally, waiting: str | None) -> str:
    missing = counted.required - counted.given
    if missing > 0:
        return "1 more person must." if missing == 1 else f"{missing} more people must."
    return f"It waits for the group {waiting}." if waiting else "It needs nobody else."
