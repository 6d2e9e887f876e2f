"""What the rule asks for, row by row, as the person in front of the page stands to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from review.domain.decision import OUTDATED, OVERTAKEN, Case, GroupTally, Tally, Verdict, needs_reason, tally
from review.domain.independence import PersonId, Reason
from review.domain.refusals import RoleTooNew
from review.domain.status import Status


class State(StrEnum):
    MET = "met"
    NOT_MET = "not_met"
    NOT_MET_BY_YOU = "not_met_by_you"
    BLOCKS = "blocks"
    NOT_NEEDED = "not_needed"


_WORDS = {
    State.MET: "Met",
    State.NOT_MET: "Not met",
    State.NOT_MET_BY_YOU: "Not met by you",
    State.BLOCKS: "Error, blocks",
    State.NOT_NEEDED: "Not needed",
}


class Requirement(NamedTuple):
    """One row: the sentence at the left, the state in words at the right, a note under the sentence.

    `given` of `needed` where something is counted; `since` where the note begins with a date.
    """

    sentence: str
    state: State
    note: str = ""
    given: int | None = None
    needed: int | None = None
    since: datetime | None = None

    @property
    def words(self) -> str:
        counted = self.state is State.NOT_MET and self.needed is not None
        return f"{_WORDS[self.state]}, {self.given} of {self.needed}" if counted else _WORDS[self.state]


def requirements(
    case: Case, person: PersonId, now: datetime, names: Mapping[PersonId, str]
) -> list[Requirement]:
    """Return every row of the rule as `person` would meet it now; `names` are those of all members."""
    counted = tally(case, now)
    groups = (_group(case, group, person, now, names) for group in counted.groups)
    return [
        _independence(case, person, names),
        _role(case, person, now),
        _quorum(case, counted, now),
        *groups,
        *_still_made_for(case),
        *_in_the_form(case),
    ]


_PARTS = {
    Reason.OWNER_NOW: "owner",
    Reason.OWNER_THEN: "owner when it was submitted",
    Reason.PRINCIPAL: "acted for",
    Reason.AUTHOR: "author of a revision",
    Reason.MINTER: "minted the token",
    Reason.RULE_CHANGER: "changed the rule",
    Reason.ORIGIN: "not independent of what brought it",
}


def _independence(case: Case, person: PersonId, names: Mapping[PersonId, str]) -> Requirement:
    whom, others = case.electorate.agent or "the proposer", _not_independent(case, person, names)
    if person in case.electorate.conflicts:
        note = f"{case.electorate.reason(person)} Nobody can waive this."
        return Requirement(f"You are independent of {whom}", State.NOT_MET_BY_YOU, f"{note} {others}".strip())
    if case.electorate.agent:
        return Requirement(
            f"You are independent of {whom}, of its owners and of every author", State.MET, others
        )
    return Requirement(f"You are independent of {whom} and of every author", State.MET, others)


def _not_independent(case: Case, person: PersonId, names: Mapping[PersonId, str]) -> str:
    """Name everybody else who may not approve, with the part he has in it."""
    others = {
        who: reason for who, reason in case.electorate.conflicts.items() if who != person and who in names
    }
    named = sorted(f"{names[who]} ({_part(case, reason)})" for who, reason in others.items())
    return f"Not independent: {', '.join(named)}." if named else ""


def _part(case: Case, reason: Reason) -> str:
    """Of what a person started nobody is acted for: he proposed it."""
    if reason == Reason.PRINCIPAL and case.electorate.agent is None:
        return "proposed it"
    return _PARTS[Reason(reason)]


def _role(case: Case, person: PersonId, now: datetime) -> Requirement:
    role = case.electorate.role
    held = case.electorate.membership(person, now)
    older = f"Your {role} role is older than revision {case.revision}"
    if held is None:
        note = "A manager of the workspace grants roles."
        return Requirement(f"You are an active {role} of this workspace", State.NOT_MET_BY_YOU, note)
    unproved = case.electorate.password_objection(held)
    objection = case.electorate.role_objection(held) or unproved
    if objection is None:
        return Requirement(older, State.MET, since=held.since)
    sentence = f"Your {role} role was granted by somebody independent"
    if objection is unproved:
        sentence = "Somebody independent made the link to your password"
    elif isinstance(objection, RoleTooNew):
        sentence = older
    return Requirement(sentence, State.NOT_MET_BY_YOU, objection.detail, since=held.since)


def _quorum(case: Case, counted: Tally, now: datetime) -> Requirement:
    sentence = _approve(counted.required, held=case.status == Status.QUARANTINED)
    if counted.given >= counted.required:
        return Requirement(sentence, State.MET, "", counted.given, counted.required)
    able = len(case.electorate.eligible(now))
    if able < counted.required:
        note = f"{_could(able)} A manager must add reviewers before this can be approved."
        return Requirement(sentence, State.BLOCKS, note, counted.given, counted.required)
    return Requirement(sentence, State.NOT_MET, _could(able), counted.given, counted.required)


def _approve(required: int, *, held: bool) -> str:
    if required == 1:
        return "1 person approves the release" if held else "1 person approves these exact arguments"
    if held:
        return f"{required} different people approve the release"
    return f"{required} different people approve these exact arguments"


def _could(able: int) -> str:
    return {0: "Nobody could approve it.", 1: "1 person could approve it."}.get(
        able, f"{able} people could approve it."
    )


def _group(
    case: Case, group: GroupTally, person: PersonId, now: datetime, names: Mapping[PersonId, str]
) -> Requirement:
    if case.rule.people == 1:
        sentence = f"That person belongs to the group {group.name}"
    else:
        sentence = (
            f"{group.needed} of them belong{'s' if group.needed == 1 else ''} to the group {group.name}"
        )
    if group.given >= group.needed:
        return Requirement(sentence, State.MET, "", group.given, group.needed)
    if group.blocks:
        note = (
            "Too few who could approve belong to it. A manager must add someone before this can be approved."
        )
        return Requirement(sentence, State.BLOCKS, note, group.given, group.needed)
    note = _members(case, group.name, person, now, names)
    return Requirement(sentence, State.NOT_MET, note, group.given, group.needed)


def _members(case: Case, group: str, person: PersonId, now: datetime, names: Mapping[PersonId, str]) -> str:
    people = {one for one in case.electorate.eligible(now) if group in case.electorate.groups(one, now)}
    listed = [*["You"] * (person in people), *sorted(names[one] for one in people - {person})]
    *first, last = listed
    if not first:
        return "You do." if last == "You" else f"{last} does."
    if first[0] != "You":
        return f"{', '.join(first)} and {last} do."
    return f"You, {', '.join(first[1:])} and {last} do." if first[1:] else f"You and {last} do."


def _still_made_for(case: Case) -> Iterator[Requirement]:
    if case.overtaken:
        yield Requirement("It replaces the version that runs", State.BLOCKS, OVERTAKEN)
    if case.outdated:
        yield Requirement("What it changes stands as it did", State.BLOCKS, OUTDATED)


def _in_the_form(case: Case) -> Iterator[Requirement]:
    """What the deciding form asks for; none of it can be met before."""
    if needs_reason(case.rule, Verdict.APPROVE):
        yield Requirement(
            "A reason is given", State.NOT_MET, "High risk. You are asked for it in the next step."
        )
    if case.rule.step_up:
        note = "You are asked for your password in the next step."
        yield Requirement("A sign-in at most 5 minutes old", State.NOT_MET, note)
    if case.rule.confirm:
        note = "You are asked for it in the next step."
        yield Requirement(f"The value of {case.rule.confirm} is typed", State.NOT_MET, note)
    if not (case.rule.step_up or case.rule.confirm):
        yield Requirement(
            "Fresh sign-in and typed confirmation", State.NOT_NEEDED, "The rule asks for neither."
        )
