"""The binding: one digest of exactly what would run, under which rule, until when, and for whom.

A decision counts for a binding and for nothing else, so a byte that changes outdates every vote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from uuid import UUID

from huqan_site.lib.canonical_json import JSON, canonical

FOREVER = "9999-12-31T23:59:59Z"
"""What `expires` says while a proposal is quarantined: being held has no end of its own."""

_FRAME = b"huqan.binding.v1\x00"


class Kind(StrEnum):
    """What a proposal would change; it decides whose vote counts and what approval does."""

    TOOL_CALL = "tool_call"
    MEMORY_WRITE = "memory_write"
    MEMORY_RETIRE = "memory_retire"
    MEMORY_RELEASE = "memory_release"
    POLICY_CHANGE = "policy_change"


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "memory.write": Kind.MEMORY_WRITE,
        "memory.supersede": Kind.MEMORY_WRITE,
        "memory.learn": Kind.MEMORY_WRITE,
        "memory.retract": Kind.MEMORY_RETIRE,
        "memory.archive": Kind.MEMORY_RETIRE,
        "memory.restore": Kind.MEMORY_RETIRE,
        "memory.erase": Kind.MEMORY_RETIRE,
        "memory.resolve": Kind.MEMORY_RETIRE,
        "facts.optimise": Kind.MEMORY_RETIRE,
        "memory.release": Kind.MEMORY_RELEASE,
        "tombstone.lift": Kind.MEMORY_RELEASE,
        "policy.change": Kind.POLICY_CHANGE,
    }
)
"""The tools that the console carries out itself, by their casefolded names."""


def kind_of(tool: str) -> Kind:
    """Return the kind of a call of `tool`; what the console does not carry out itself is a `tool_call`."""
    return KINDS.get(tool.casefold(), Kind.TOOL_CALL)


def utc_seconds(moment: datetime) -> str:
    """Return `moment` (aware) as RFC 3339 in UTC with Z; whole seconds, any fraction is dropped."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Binding:
    """The members that a decision binds. `arguments` is the stored canonical text and goes in as it is.

    `tool_schema` and `policy` are `sha256:<hex>` of the resolved rule; `expires` is None while quarantined.
    """

    workspace: UUID
    proposal: UUID
    revision: int
    agent: UUID | None
    principal: UUID
    kind: Kind
    tool: str
    tool_schema: str
    arguments: str
    risk: str
    policy: str
    expires: datetime | None

    def canonical(self) -> str:
        """Return the RFC 8785 text of the thirteen members."""
        return "{" + ",".join(f'"{name}":{text}' for name, text in sorted(self._members().items())) + "}"

    def digest(self) -> str:
        """Return the binding: 64 lower-case hex digits of SHA-256, framed with its purpose and version."""
        return self._digest  # asked for by the proposal and by its revision

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(_FRAME + self.canonical().encode()).hexdigest()

    def _members(self) -> dict[str, str]:
        """Each member's canonical text. The arguments are never read back: the stored text is hashed."""
        scalars: dict[str, JSON] = {
            "v": 1,
            "workspace": str(self.workspace),
            "proposal": str(self.proposal),
            "revision": self.revision,
            "agent": str(self.agent) if self.agent else None,
            "principal": str(self.principal),
            "kind": self.kind.value,
            "tool": self.tool,
            "tool_schema": self.tool_schema,
            "risk": str(self.risk),
            "policy": self.policy,
            "expires": utc_seconds(self.expires) if self.expires else FOREVER,
        }
        return {name: canonical(value) for name, value in scalars.items()} | {"arguments": self.arguments}
