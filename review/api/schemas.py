"""What the agents' API takes and gives. Requests are closed and strict: a string is no number, true is no 1."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from huqan_site.lib.strict_json import MAX_INTEGER
from review.domain.policy import TOOL_NAME
from review.domain.status import Status

UUID_TEXT = r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
Id = Annotated[str, Field(pattern=UUID_TEXT, examples=["0193a7b2-1c40-7c3e-9d55-0d8f7a3b2c11"])]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Long = Annotated[str, Field(max_length=20_000)]
Tool = Annotated[
    str, Field(json_schema_extra={"pattern": f"^{TOOL_NAME.pattern}$"}, examples=["memory.write"])
]
Arguments = Annotated[dict[str, Any], Field(examples=[{"content": "The staging port is 7443."}])]


def _whole(sent: Any) -> Any:
    """Read 3.0 as 3, as the integer of JSON Schema and the canonical form do."""
    return int(sent) if isinstance(sent, float) and sent.is_integer() else sent


def _digits(sent: Any) -> Any:
    """Read a number in a query as it must be written: pydantic would take `1_0`, ` 10` and `10.0` for 10."""
    if isinstance(sent, str) and not (sent.isascii() and sent.isdigit() and len(sent) < 16):
        raise PydanticCustomError("int_parsing", "not a whole number")
    return sent


WHOLE = BeforeValidator(_whole)  # comes after the bounds, or the document would lose them


class Request(Schema):
    """A body that has no member beyond those named."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Evidence(Request):
    title: Short
    ref: Annotated[str, Field(max_length=2000)] | None = None
    text: Long | None = None


class ProposalIn(Request):
    tool: Tool
    arguments: Arguments
    rationale: Long | None = None
    evidence: Annotated[list[Evidence], Field(max_length=20)] | None = None
    on_behalf_of: Short | None = None
    tool_call_id: Short | None = None
    run_id: Short | None = None
    expires_in: Annotated[int, Field(ge=5, le=MAX_INTEGER), WHOLE] | None = None


class RevisionIn(Request):
    revision: Annotated[int, Field(ge=1, le=2_147_483_647), WHOLE]
    arguments: Arguments
    rationale: Long | None = None


class WithdrawIn(Request):
    reason: Long | None = None


def _only(name: str) -> JsonDict:
    """The words of JSON Schema for: this member, and null for the other if it is there at all."""
    taken: JsonDict = {one: {"type": "null"} for one in ("arguments", "binding") if one != name}
    return {"required": [name], "properties": {**taken, name: {"not": {"type": "null"}}}}


class RedeemIn(Request):
    """What is about to run: the arguments themselves, or the binding that was approved; one of the two."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_only("arguments"), _only("binding")]})

    arguments: Arguments | None = None
    binding: Digest | None = None


class SpendIn(Request):
    permit: Annotated[str, Field(min_length=1, max_length=8000)]
    arguments: Arguments


class OutcomeIn(Request):
    result: Literal["succeeded", "failed", "unknown"]
    jti: Id
    detail: Long | None = None


class ListIn(Schema):
    """The query of the list of proposals."""

    model_config = ConfigDict(extra="forbid")

    status: Status | None = None
    tool: Short | None = None
    run_id: Short | None = None
    limit: Annotated[int, Field(ge=1, le=100), BeforeValidator(_digits)] = 20
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class SignalOut(Schema):
    code: str
    outcome: str
    detail: str


class GateOut(Schema):
    outcome: Literal["allow", "review", "quarantine", "reject"]
    signals: list[SignalOut]


class ApprovalsOut(Schema):
    """`eligible`: how many people could still approve it."""

    required: int
    given: int
    eligible: int


class ProposalOut(Schema):
    """`author` says who wrote the current revision: the agent, or a person who edited the arguments."""

    id: Id
    url: str
    workspace: str
    agent: str | None
    tool: str
    arguments: dict[str, Any]
    revision: int
    author: Literal["agent", "person"]
    binding: Digest
    status: Status
    gate: GateOut
    risk: Literal["low", "medium", "high"]
    approvals: ApprovalsOut
    expires_at: str | None
    created_at: str
    tool_call_id: str | None
    run_id: str | None
    reason: str | None
    fields: list[str]
    outcome: dict[str, Any] | None


class ProposalsOut(Schema):
    data: list[ProposalOut]
    next_cursor: str | None


class MeOut(Schema):
    agent: str
    workspace: str
    scopes: list[Literal["propose", "read", "redeem"]]
    expires_at: str


class PermitOut(Schema):
    permit: str
    jti: Id
    expires_at: str


class SpentOut(Schema):
    proposal: Id
    tool: str
    jti: Id


class FieldErrorOut(Schema):
    pointer: str
    code: str
    detail: str


class ProblemOut(Schema):
    """application/problem+json, RFC 9457. `code` is for programs, `detail` says what to do next."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str | None
    errors: list[FieldErrorOut] | None = None
