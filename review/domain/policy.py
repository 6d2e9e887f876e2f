"""The policy of a workspace: which rule a tool meets, and what that rule asks for.

A rule is resolved for one tool with the defaults filled in. Its digest is bound, so changing another rule
touches nothing. Some tools have a floor that no wildcard and no default reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any

from huqan_site.lib.canonical_json import JSON, canonical, digest
from huqan_site.lib.problems import FieldError
from review.domain import schemas
from review.domain.pointers import Nowhere, lookup
from review.domain.refusals import Invalid

TOOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:_-]{0,127}")

FLOOR: Mapping[str, int] = MappingProxyType(
    {"memory.release": 2, "memory.erase": 2, "tombstone.lift": 1, "policy.change": 1}
)
"""Approvals that these tools need at least. Only people start them; only a rule of their own reaches them."""


RULED_AS: Mapping[str, str] = MappingProxyType({"memory.resolve": "memory.retract"})
"""Tools without a rule of their own: what one of them does, another does too, and it must be no softer a door."""

STARTED_BY_PEOPLE = frozenset({*FLOOR, *RULED_AS})


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 (low) to 2 (high), to sort by."""
        return tuple(Risk).index(self)


class Route(StrEnum):
    REVIEW = "review"
    ALLOW = "allow"
    BLOCK = "block"


DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"route": "review", "risk": "medium", "approvals": 1, "ttl_seconds": 604_800}
)
"""What holds where a document's own defaults say nothing."""


@dataclass(frozen=True)
class GroupNeed:
    """So many of the approvers belong to this group, each of them counted for one group only."""

    name: str
    approvals: int


@dataclass(frozen=True)
class Rule:
    """What the policy says about one tool, nothing left open."""

    route: Route
    risk: Risk
    approvals: int
    ttl_seconds: int
    groups: tuple[GroupNeed, ...] = ()
    step_up: bool = False
    confirm: str | None = None
    audience: str | None = None
    schema: schemas.Schema = True

    @property
    def people(self) -> int:
        """How many different people must approve: each group is met by a person of its own."""
        return max(self.approvals, sum(group.approvals for group in self.groups))

    def members(self) -> dict[str, Any]:
        """Return the JSON members of the rule; `Rule.read` is the way back."""
        spelled = {"route": self.route.value, "risk": self.risk.value}
        return asdict(self) | spelled | {"groups": [asdict(group) for group in self.groups]}

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Rule:
        """Return the rule that checked `members` describe; what they leave out has its default."""
        named = {name: members[name] for name in cls.__dataclass_fields__ if name in members}
        return cls(
            **named
            | {
                "route": Route(members["route"]),
                "risk": Risk(members["risk"]),
                "approvals": int(members["approvals"]),
                "ttl_seconds": int(members["ttl_seconds"]),
                "groups": tuple(GroupNeed(g["name"], int(g["approvals"])) for g in members.get("groups", ())),
            }
        )

    @cached_property
    def canonical(self) -> str:
        """The RFC 8785 text of the resolved rule: what is stored beside a revision."""
        return canonical(self.members())

    @cached_property
    def digest(self) -> str:
        """`sha256:<hex>` of the resolved rule: `policy` of the binding."""
        return digest(self.members())

    @cached_property
    def schema_digest(self) -> str:
        """`sha256:<hex>` of the schema, of `true` if none: `tool_schema` of the binding."""
        return digest(self.schema)


def resolve(document: Mapping[str, Any], tool: str) -> Rule:
    """Return the rule a checked `document` has for `tool`: the first that matches, defaults filled in."""
    number = rule_number(document, tool)
    own = document["rules"][number - 1] if number else {}
    return Rule.read(_base(document, tool) | own)


def resolve_own(document: Mapping[str, Any], own: Mapping[str, Any]) -> Rule:
    """Return one rule of a checked `document` as it stands there, defaults filled in."""
    return Rule.read(_base(document, own["tool"]) | dict(own))


def rule_number(document: Mapping[str, Any], tool: str) -> int | None:
    """Return which rule, counted from 1, `tool` meets; None where only the defaults or the floor hold."""
    name = RULED_AS.get(tool.casefold(), tool.casefold())
    patterns = (rule["tool"].casefold() for rule in document.get("rules", ()))
    return next((number for number, pattern in enumerate(patterns, 1) if _matches(pattern, name)), None)


def _base(document: Mapping[str, Any], tool: str) -> dict[str, Any]:
    base = {**DEFAULTS, **document.get("defaults", {})}
    least = FLOOR.get(tool.casefold())
    return base if least is None else base | {"route": "review", "risk": "high", "approvals": least}


def _matches(pattern: str, name: str) -> bool:
    """Whether `name` is `pattern`, where `*` stands for any run of characters; both are casefolded."""
    if "*" not in pattern or name in FLOOR:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    place, end = len(first), len(name) - len(last)
    for part in middle:  # leftmost is enough: it leaves most to the parts that follow
        place = name.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def tool_errors(tool: str, at: str = "/tool") -> list[FieldError]:
    """Return what is wrong with the name of a tool."""
    if TOOL_NAME.fullmatch(tool):
        return []
    sentence = (
        "A tool name has 1 to 128 of the characters A-Z a-z 0-9 . _ / : - and begins with a letter or digit."
    )
    return [FieldError(at, "tool_name", sentence)]


def validate_arguments(rule: Rule, arguments: JSON, at: str = "/arguments") -> list[FieldError]:
    """Return where `arguments` are not as the rule wants them, values never repeated."""
    found = schemas.errors(rule.schema, arguments, at)
    if rule.confirm and text_to_type(rule, arguments) is None:
        sentence = "The policy has people type this value to confirm it. Send a text or a number."
        found.append(FieldError(at + rule.confirm, "required", sentence))
    return found


def text_to_type(rule: Rule, arguments: JSON) -> str | None:
    """Return what a person has to type to confirm these arguments; None where the rule asks for nothing.

    Also None where the value is missing or cannot be typed; `validate_arguments` refuses those at the door.
    """
    try:
        value = lookup(arguments, rule.confirm) if rule.confirm else None
    except Nowhere:
        return None
    if isinstance(value, str):
        return value or None
    return canonical(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def expiry(rule: Rule, submitted_at: datetime, expires_in: int | None = None) -> datetime:
    """Return when a proposal submitted then expires: whole seconds, `expires_in` capped by the rule."""
    seconds = min(expires_in or rule.ttl_seconds, rule.ttl_seconds)
    return submitted_at.replace(microsecond=0) + timedelta(seconds=seconds)


_TERMS: Mapping[str, Any] = {
    "route": {"enum": list(Route)},
    "risk": {"enum": list(Risk)},
    "approvals": {"type": "integer", "minimum": 1, "maximum": 20},
    "ttl_seconds": {"type": "integer", "minimum": 5, "maximum": 31_536_000},
}
_GROUP = {
    "type": "object",
    "required": ["name", "approvals"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 64},
        "approvals": _TERMS["approvals"],
    },
}
_RULE = {
    "type": "object",
    "required": ["tool"],
    "additionalProperties": False,
    "properties": {
        "tool": {"type": "string", "pattern": "^[A-Za-z0-9*][A-Za-z0-9._/:*-]{0,127}$"},
        **_TERMS,
        "groups": {"type": "array", "maxItems": 20, "items": _GROUP},
        "step_up": {"type": "boolean"},
        "confirm": {"type": "string", "pattern": "^/", "maxLength": 256},
        "audience": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        "schema": {"type": ["object", "boolean"]},
    },
}
DOCUMENT: schemas.Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "defaults": {"type": "object", "additionalProperties": False, "properties": _TERMS},
        "rules": {"type": "array", "maxItems": 500, "items": _RULE},
    },
}
"""The shape of a policy document; `check` adds what a shape cannot say."""


def check(document: JSON, at: str = "") -> None:
    """Refuse a policy document that could not stand; pointers in the refusal begin with `at`.

    Raises: Invalid.
    """
    found = schemas.errors(DOCUMENT, document, at)
    if not found and isinstance(document, Mapping):
        found = list(_contradictions(document, at))
    if found:
        raise Invalid(errors=found)


def _contradictions(document: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    yield from _unreviewed(Rule.read(_base(document, "")), f"{at}/defaults")
    for place, own in enumerate(document.get("rules", ())):
        rule, where = resolve_own(document, own), f"{at}/rules/{place}"
        yield from _unreviewed(rule, where)
        yield from _below_floor(rule, own["tool"], where)
        yield from _repeated_groups(rule, where)
        yield from _misspelt_pointer(rule, where)
        yield from schemas.faults(rule.schema, f"{where}/schema")


def _unreviewed(rule: Rule, where: str) -> Iterator[FieldError]:
    if rule.route is Route.ALLOW and rule.risk is not Risk.LOW:
        yield FieldError(
            f"{where}/route", "allow", "Only a low risk call can go without review. Set risk to low."
        )


def _below_floor(rule: Rule, tool: str, where: str) -> Iterator[FieldError]:
    least = FLOOR.get(tool.casefold())
    if least is None:
        return
    if rule.route is not Route.REVIEW:
        yield FieldError(f"{where}/route", "floor", f"{tool} is always reviewed. Set route to review.")
    if rule.approvals < least:
        yield FieldError(f"{where}/approvals", "floor", f"{tool} needs at least {least} approvals.")


def _repeated_groups(rule: Rule, where: str) -> Iterator[FieldError]:
    names = [group.name for group in rule.groups]
    for place, name in enumerate(names):
        if name in names[:place]:
            yield FieldError(
                f"{where}/groups/{place}/name", "repeated", "A group is listed once. Raise its approvals."
            )


def _misspelt_pointer(rule: Rule, where: str) -> Iterator[FieldError]:
    """A pointer that no place has would have every proposal refused."""
    if rule.confirm and "~" in re.sub("~[01]", "", rule.confirm):
        yield FieldError(
            f"{where}/confirm", "pointer", "In a JSON Pointer ~ is written ~0, and / inside a key ~1."
        )
