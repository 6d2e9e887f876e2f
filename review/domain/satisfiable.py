"""Whether the people who are there could meet a policy: who proposes one is told before anybody waits for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from huqan_site.lib.problems import FieldError
from review.domain.binding import Kind, kind_of
from review.domain.decision import group_tallies
from review.domain.independence import Electorate, Membership, Role
from review.domain.policy import FLOOR, Route, Rule, resolve, resolve_own


class Shortfall(NamedTuple):
    """What a rule needs and cannot have: people at all (`group` is None), or members of a group."""

    group: str | None
    needed: int
    there: int

    @property
    def sentence(self) -> str:
        if self.group is None:
            return f"It takes {_people(self.needed)}, and {self.there} could approve. Add people first."
        if not self.there:
            return f"Nobody who could approve belongs to the group {self.group}. Add people to it first."
        return f"The group {self.group} cannot give {_people(self.needed)}: it has {self.there}."


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"


@dataclass(frozen=True)
class House:
    """Everyone with a role in a workspace, as a policy for it is held against them."""

    memberships: tuple[Membership, ...]
    now: datetime

    @property
    def groups(self) -> frozenset[str]:
        """The groups that somebody belongs to now: the only ones a policy can name."""
        return frozenset(group for m in self.memberships if m.holds(self.now) for group in m.groups)

    def shortfalls(self, rule: Rule, tool: str) -> list[Shortfall]:
        """Return what `rule` asks for when `tool` meets it, and these people cannot give."""
        if rule.route is Route.BLOCK:
            return []
        electorate = self._electorate(kind_of(tool))
        could = electorate.eligible(self.now)
        there = max(len(could) - self._proposing(electorate), 0)
        found = [Shortfall(None, rule.people, there)] if there < rule.people else []
        for group in group_tallies(rule, electorate, could, self.now):
            if group.blocks:
                members = sum(group.name in electorate.groups(person, self.now) for person in could)
                found.append(Shortfall(group.name, group.needed, members))
        return found

    def _electorate(self, kind: Kind) -> Electorate:
        """Nobody is in conflict with a rule as such; who owns an agent shows when it proposes."""
        return Electorate(kind, agent=None, submitted_at=self.now, conflicts={}, memberships=self.memberships)

    def _proposing(self, electorate: Electorate) -> int:
        """A change of the policy is proposed by one of those who decide such changes, and not decided by him."""
        return 1 if electorate.role is Role.MANAGER else 0


def errors(document: Mapping[str, Any], house: House, at: str = "") -> list[FieldError]:
    """Return where a checked `document` names groups that nobody is in, or asks for more than these people are."""
    found = list(_of_defaults(document, house, at))
    for place, own in enumerate(document.get("rules", ())):
        where = f"{at}/rules/{place}"
        unknown = list(_unknown_groups(own, house.groups, where))
        found += unknown or _of_rule(resolve_own(document, own), own, house, where)
    return found


def unmet_floor(document: Mapping[str, Any], house: House) -> Iterator[tuple[str, Shortfall]]:
    """Yield each tool that only people start and that nobody could carry through now, with what is missing."""
    for tool in FLOOR:
        for shortfall in house.shortfalls(resolve(document, tool), tool):
            yield tool, shortfall


def _of_defaults(document: Mapping[str, Any], house: House, at: str) -> Iterator[FieldError]:
    if "approvals" in document.get("defaults", {}):
        for shortfall in house.shortfalls(resolve_own(document, {"tool": ""}), ""):
            yield FieldError(f"{at}/defaults/approvals", "unsatisfiable", shortfall.sentence)


def _unknown_groups(own: Mapping[str, Any], known: Collection[str], where: str) -> Iterator[FieldError]:
    for place, group in enumerate(own.get("groups", ())):
        if group["name"] not in known:
            sentence = (
                "Nobody in this workspace belongs to a group of that name. Correct it, or add people first."
            )
            yield FieldError(f"{where}/groups/{place}/name", "unknown_group", sentence)


def _of_rule(rule: Rule, own: Mapping[str, Any], house: House, where: str) -> Iterator[FieldError]:
    names = [group["name"] for group in own.get("groups", ())]
    for shortfall in house.shortfalls(rule, own["tool"]):
        if shortfall.group is not None:
            place = f"{where}/groups/{names.index(shortfall.group)}/approvals"
        elif "approvals" in own or names:
            place = f"{where}/{'approvals' if 'approvals' in own else 'groups'}"
        else:
            continue  # it is the defaults that ask for too many
        yield FieldError(place, "unsatisfiable", shortfall.sentence)
