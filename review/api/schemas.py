"""What the agents' API takes and gives. Requests are closed and strict: a string is no number, true is no 1."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from review.domain.status import Status

UUID_TEXT = r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"
Id = Annotated[str, Field(pattern=UUID_TEXT, examples=["0193a7b2-1c40-7c3e-9d55-0d8f7a3b2c11"])]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Long = Annotated[str, Field(max_length=20_000)]


class Request(Schema):
    """A body that has no member beyond those named."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Evidence(Request):
    title: Short
    ref: Annotated[str, Field(max_length=2000)] | None = None
    text: Long | None = None


class ProposalIn(Request):
    tool: Annotated[str, Field(min_length=1, max_length=128, examples=["memory.write"])]
    arguments: Annotated[dict[str, Any], Field(examples=[{"content": "The staging port is 7443."}])]
    rationale: Long | None = None
    evidence: Annotated[list[Evidence], Field(max_length=20)] | None = None
    on_behalf_of: Short | None = None
    tool_call_id: Short | None = None
    run_id: Short | None = None
    expires_in: Annotated[int, Field(ge=5)] | None = None


class RevisionIn(Request):
    revision: Annotated[int, Field(ge=1, le=2_147_483_647)]
    arguments: dict[str, Any]
    rationale: Long | None = None


class WithdrawIn(Request):
    reason: Long | None = None


class RedeemIn(Request):
    """What is about to run: the arguments themselves, or the binding that was approved; one of the two."""

    arguments: dict[str, Any] | None = None
    binding: Digest | None = None


class SpendIn(Request):
    permit: Annotated[str, Field(min_length=1, max_length=8000)]
    arguments: dict[str, Any]


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
    limit: Annotated[int, Field(ge=1, le=100)] = 20
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
