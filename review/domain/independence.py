"""Separation of duties: who may not decide a proposal, and who may.

Source: NIST SP 800-53 AC-5 (separation of duties), AC-3(2) (dual authorization). People, not accounts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias
from uuid import UUID

from review.domain.binding import Kind
from review.domain.refusals import DecisionDeclined, NotEligible, RoleTooNew, SelfApproval

PersonId: TypeAlias = UUID
Conflicts: TypeAlias = "Mapping[PersonId, Reason]"


class Reason(StrEnum):
    """Why a person is not independent, in the order in which it is told when several hold."""

    OWNER_NOW = "owner_now"
    OWNER_THEN = "owner_then"
    PRINCIPAL = "principal"
    AUTHOR = "author"
    MINTER = "minter"
    RULE_CHANGER = "rule_changer"
    ORIGIN = "origin"


PLAINEST_FIRST = {reason: place for place, reason in enumerate(Reason)}


class Role(StrEnum):
    REVIEWER = "reviewer"
    MANAGER = "manager"


def conflict_set(
    *,
    owners_then: Iterable[PersonId] = (),
    owners_now: Iterable[PersonId] = (),
    minters: Iterable[PersonId] = (),
    principals: Iterable[PersonId] = (),
    authors: Iterable[PersonId] = (),
    rule_changers: Iterable[PersonId] = (),
    origins: Iterable[PersonId] = (),
) -> dict[PersonId, Reason]:
    """Return everyone who may not approve, with the first reason that holds.

    Owners of the agent when each revision was made and now, who minted the tokens used, the person acted
    for, every author of any revision, and whoever changed the applying rule since it was submitted. `origins` are
    those of the proposals that brought what it lets out again or decides between.
    """
    listed = {
        Reason.OWNER_NOW: owners_now,
        Reason.OWNER_THEN: owners_then,
        Reason.PRINCIPAL: principals,
        Reason.AUTHOR: authors,
        Reason.MINTER: minters,
        Reason.RULE_CHANGER: rule_changers,
        Reason.ORIGIN: origins,
    }
    return union(*(dict.fromkeys(people, reason) for reason, people in listed.items()))


def union(*sets: Conflicts) -> dict[PersonId, Reason]:
    """Return all of the conflict sets as one: what was stored with a revision binds beside what holds now."""
    joined: dict[PersonId, Reason] = {}
    for people in sets:
        for person, reason in people.items():
            joined[person] = min(joined.get(person, reason), Reason(reason), key=PLAINEST_FIRST.__getitem__)
    return joined


@dataclass(frozen=True)
class Membership:
    """A person's role in the workspace of the proposal; `is_active` is false once he is disabled.

    `vouched_by` are those who made the links with which his passwords were chosen, and could have used them.
    """

    person: PersonId
    role: Role
    since: datetime
    until: datetime | None = None
    granted_by: PersonId | None = None
    groups: frozenset[str] = frozenset()
    is_active: bool = True
    vouched_by: frozenset[PersonId] = frozenset()

    def holds(self, now: datetime) -> bool:
        return self.is_active and self.since <= now and (self.until is None or now < self.until)


_VOUCHED = (
    "Somebody who is not independent of this proposal made the link with which you chose your password. "
    "Choose another through a link of somebody else."
)


@dataclass(frozen=True)
class Electorate:
    """Everyone with a role in the workspace, seen from one proposal.

    `agent` is the agent's name, None when a person proposes; `submitted_at` is that of the current arguments.
    """

    kind: Kind
    agent: str | None
    submitted_at: datetime
    conflicts: Conflicts
    memberships: tuple[Membership, ...]

    @property
    def role(self) -> Role:
        """The role that decides: a policy is the managers' affair, all else the reviewers'."""
        return Role.MANAGER if self.kind == Kind.POLICY_CHANGE else Role.REVIEWER

    @cached_property
    def _deciding(self) -> dict[PersonId, list[Membership]]:
        """The memberships in the deciding role, each person's oldest first."""
        held = defaultdict(list)
        for membership in sorted(self.memberships, key=lambda m: m.since):
            if membership.role == self.role:
                held[membership.person].append(membership)
        return held

    def membership(self, person: PersonId, now: datetime) -> Membership | None:
        """Return the membership by which `person` could reject, or None."""
        return next((m for m in self._deciding.get(person, ()) if m.holds(now)), None)

    def not_eligible(self) -> NotEligible:
        """Return the refusal of somebody without the deciding role."""
        sentence = (
            f"Deciding this needs an active {self.role} membership in its workspace, and you have none."
        )
        return NotEligible(sentence)

    def objection(self, person: PersonId, now: datetime) -> DecisionDeclined | None:
        """Return why an approval by `person` would not count, or None: the one rule of I7 and I8.

        It is asked when he votes, again when the last vote comes, and to tell who could decide.
        """
        held = self.membership(person, now)
        if held is None:
            return self.not_eligible()
        role_objection = self.role_objection(held)
        if role_objection is not None:
            return role_objection
        if person in self.conflicts:
            return SelfApproval(f"{self.reason(person)} Someone else must approve.")
        return self.password_objection(held)

    def password_objection(self, held: Membership) -> DecisionDeclined | None:
        """Return why nobody independent can say that it is he who signs in, or None.

        Told last: another password does not help who is not independent himself.
        """
        return NotEligible(_VOUCHED) if held.vouched_by & self.conflicts.keys() else None

    def role_objection(self, held: Membership) -> DecisionDeclined | None:
        """Return why a role that is held does not count for approving this proposal, or None."""
        if held.granted_by in self.conflicts or held.granted_by == held.person:
            return NotEligible("Your role was granted by somebody who is not independent of this proposal.")
        return RoleTooNew() if held.since >= self.submitted_at else None

    def reason(self, person: PersonId) -> str:
        """Return the sentence that says why `person` is not independent."""
        return {
            Reason.OWNER_NOW: f"You own {self.agent}.",
            Reason.OWNER_THEN: f"You owned {self.agent} when this was submitted.",
            Reason.PRINCIPAL: f"{self.agent} acts for you." if self.agent else "You proposed this.",
            Reason.AUTHOR: "You wrote a revision of this.",
            Reason.MINTER: f"You minted the token that {self.agent} used.",
            Reason.RULE_CHANGER: "You changed the rule that applies to this.",
            Reason.ORIGIN: "You are not independent of what brought it.",
        }[Reason(self.conflicts[person])]

    def eligible(self, now: datetime) -> frozenset[PersonId]:
        """Return everyone whose approval would count."""
        return frozenset(person for person in self._deciding if self.objection(person, now) is None)

    def groups(self, person: PersonId, now: datetime) -> frozenset[str]:
        """Return the groups that an approval by `person` would count for."""
        held = self.membership(person, now)
        return held.groups if held else frozenset()
