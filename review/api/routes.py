"""The calls of the agents' API. None of them can approve, release, discard, lift, grant or change policy."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from ninja import Body, Query, Router

from huqan_site.lib.canonical_json import digest
from huqan_site.lib.problems import FieldError
from review.access.roles import Scope
from review.api.auth import Token, actor_of
from review.api.documented import answers, headers
from review.api.reading import read_body, refuse_unknown
from review.api.schemas import (
    ListIn,
    MeOut,
    OutcomeIn,
    PermitOut,
    ProposalIn,
    ProposalOut,
    ProposalsOut,
    RedeemIn,
    RevisionIn,
    SpendIn,
    SpentOut,
    WithdrawIn,
)
from review.api.serial import instant, proposal_json, proposals_json
from review.api.waiting import seconds_asked, wait_until
from review.domain.refusals import Invalid
from review.domain.status import OPEN, Status, current
from review.queries import agents
from review.queries.running import is_unreported
from review.queries.visible import of_agent
from review.services.expire import expire
from review.services.fall_silent import fall_silent
from review.services.issue_permit import redeem
from review.services.propose import Draft, propose
from review.services.report_outcome import report
from review.services.revise import revise
from review.services.spend_permit import spend
from review.services.withdraw import withdraw

if TYPE_CHECKING:
    from review.models import Proposal

router = Router()
MAY_READ = Token(Scope.READ)
MAY_PROPOSE = Token(Scope.PROPOSE, writes=True)
MAY_WITHDRAW = Token(Scope.PROPOSE, writes=True, bodiless=True)
MAY_REDEEM = Token(Scope.REDEEM, writes=True)
WAITING = (*OPEN, Status.RUNNING)


@router.get("/me", auth=Token(), response=answers({200: MeOut}), summary="Who this token is", tags=["Agent"])
def me(request: HttpRequest) -> Any:
    token = actor_of(request).token
    return {
        "agent": token.agent.name,
        "workspace": token.agent.workspace.name,
        "scopes": token.scopes,
        "expires_at": instant(token.expires_at),
    }


@router.post(
    "/proposals",
    auth=MAY_PROPOSE,
    response=answers({201: ProposalOut, 200: ProposalOut}, body=True, refuses=[409, 422, 429, 403]),
    openapi_extra=headers(
        "Idempotency-Key",
        "Prefer",
        given={
            201: ["Location", "Preference-Applied"],
            200: ["Location", "Idempotent-Replayed", "Preference-Applied"],
        },
    ),
    summary="Propose a call",
    tags=["Proposals"],
)
def create(request: HttpRequest, body: ProposalIn) -> HttpResponse:
    """Make a proposal. With the same Idempotency-Key and body again, the same one is returned as it is now."""
    draft = Draft(
        tool=body.tool,
        arguments=body.arguments,
        rationale=body.rationale or "",
        evidence=[item.dict(exclude_none=True) for item in body.evidence or ()],
        on_behalf_of=body.on_behalf_of,
        tool_call_id=body.tool_call_id,
        run_id=body.run_id,
        expires_in=body.expires_in,
        body_digest=digest(read_body(request)),
        key=idempotency_key(request),
    )
    made = propose(draft, by=actor_of(request))
    proposal, waited = _waited_for(request, made.proposal)
    known = made.known if proposal is made.proposal else None
    answer = JsonResponse(proposal_json(proposal, known), status=200 if made.replayed else 201)
    answer["Location"] = f"/api/v1/proposals/{proposal.id}"
    if made.replayed:
        answer["Idempotent-Replayed"] = "true"
    return _preference(answer, request, waited)


@router.get(
    "/proposals",
    auth=MAY_READ,
    response=answers({200: ProposalsOut}, refuses=[400, 422]),
    summary="List this agent's proposals, newest first",
    tags=["Proposals"],
)
def listed(request: HttpRequest, query: Query[ListIn]) -> Any:
    refuse_unknown(request, ListIn)
    filters = agents.Filters(query.status, query.tool, query.run_id)
    found = agents.page(actor_of(request).agent, filters, query.cursor, query.limit, timezone.now())
    return {"data": proposals_json(found.rows), "next_cursor": found.next_cursor}


@router.get(
    "/proposals/{uuid:id}",
    auth=MAY_READ,
    response=answers({200: ProposalOut, 304: None}, refuses=[404]),
    openapi_extra=headers(
        "Prefer",
        "If-None-Match",
        given={200: ["ETag", "Preference-Applied"], 304: ["ETag", "Preference-Applied"]},
    ),
    summary="Read one proposal; with Prefer: wait=N, once it changes",
    tags=["Proposals"],
)
def read(request: HttpRequest, id: UUID) -> HttpResponse:
    proposal = of_agent(actor_of(request).agent, id)
    proposal, waited = _waited_for(request, proposal)
    body = proposal_json(proposal)
    tag = f'"{hashlib.sha256(digest(body).encode()).hexdigest()[:32]}"'
    known = request.headers.get("If-None-Match", "")
    if known.strip() == "*" or tag in known:
        unchanged = HttpResponse(status=304, headers={"ETag": tag})
        del unchanged["Content-Type"]
        return _preference(unchanged, request, waited)
    return _preference(JsonResponse(body, headers={"ETag": tag}), request, waited)


@router.post(
    "/proposals/{uuid:id}/revisions",
    auth=MAY_PROPOSE,
    response=answers({201: ProposalOut}, body=True, refuses=[403, 404, 409, 422]),
    openapi_extra=headers(given={201: ["Location"]}),
    summary="Send another revision",
    tags=["Proposals"],
)
def create_revision(request: HttpRequest, id: UUID, body: RevisionIn) -> HttpResponse:
    """Replace the arguments. The gate is passed again and every vote is outdated."""
    revised = revise(
        id,
        by=actor_of(request),
        replaces=body.revision,
        arguments=body.arguments,
        rationale=body.rationale or "",
    )
    return JsonResponse(proposal_json(revised), status=201, headers={"Location": f"/api/v1/proposals/{id}"})


@router.post(
    "/proposals/{uuid:id}/withdraw",
    auth=MAY_WITHDRAW,
    response=answers({200: ProposalOut}, body=True, refuses=[404, 409, 422]),
    summary="Take a proposal back",
    tags=["Proposals"],
)
def take_back(request: HttpRequest, id: UUID, body: Body[WithdrawIn | None] = None) -> HttpResponse:
    reason = (body.reason if body else None) or ""
    return JsonResponse(proposal_json(withdraw(id, by=actor_of(request), reason=reason)))


@router.post(
    "/proposals/{uuid:id}/redeem",
    auth=MAY_REDEEM,
    response=answers({200: PermitOut}, body=True, refuses=[404, 409, 422]),
    openapi_extra=headers("Idempotency-Key"),
    summary="Take the permit to run what was approved, once",
    tags=["Permits"],
)
def take_permit(request: HttpRequest, id: UUID, body: RedeemIn) -> Any:
    """Say what is about to run. Anything but 200 means: do not run it."""
    if (body.arguments is None) == (body.binding is None):
        raise Invalid(errors=[FieldError("/arguments", "one_of", "Send either `arguments` or `binding`.")])
    permit = redeem(
        id,
        by=actor_of(request),
        arguments=body.arguments,
        binding=body.binding,
        key=idempotency_key(request),
    )
    return {"permit": permit.token, "jti": str(permit.jti), "expires_at": instant(permit.expires_at)}


@router.post(
    "/permits/redeem",
    auth=MAY_REDEEM,
    response=answers({200: SpentOut}, body=True, refuses=[409, 422]),
    summary="Spend a permit, once",
    tags=["Permits"],
)
def spend_permit(request: HttpRequest, body: SpendIn) -> Any:
    permit = spend(body.permit, body.arguments, by=actor_of(request))
    return {"proposal": str(permit.proposal_id), "tool": permit.proposal.tool, "jti": str(permit.jti)}


@router.post(
    "/proposals/{uuid:id}/outcome",
    auth=MAY_REDEEM,
    response=answers({200: ProposalOut}, body=True, refuses=[404, 409, 422]),
    summary="Report how it went, once",
    tags=["Permits"],
)
def report_outcome(request: HttpRequest, id: UUID, body: OutcomeIn) -> HttpResponse:
    told = report(id, by=actor_of(request), result=body.result, jti=UUID(body.jti), detail=body.detail)
    return JsonResponse(proposal_json(told))


def idempotency_key(request: HttpRequest) -> str | None:
    """Return the Idempotency-Key header.

    Raises: Invalid when it is not 1 to 255 printable ASCII characters.
    """
    key = request.headers.get("Idempotency-Key")
    if key is not None and not (1 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        sentence = "Idempotency-Key has 1 to 255 printable ASCII characters."
        raise Invalid(errors=[FieldError("/Idempotency-Key", "header", sentence)])
    return key


def _met(proposal: Proposal) -> Proposal:
    """Time may have run out: whoever meets the row first has the entry written."""
    over = current(proposal.status, proposal.expires_at, timezone.now()) is Status.EXPIRED
    if over and proposal.status != Status.EXPIRED:
        expire(proposal.id)
        proposal.refresh_from_db()
    elif is_unreported(proposal, timezone.now()):
        fall_silent(proposal.id)
        proposal.refresh_from_db()
    return proposal


def _waited_for(request: HttpRequest, proposal: Proposal) -> tuple[Proposal, bool]:
    """Hold back until state or revision change, if the request prefers that and it is possible."""
    seconds, met = seconds_asked(request), _met(proposal)
    if not seconds or met.status not in WAITING:
        return met, False
    seen = (met.status, met.revision)

    def changed() -> bool:
        return agents.standing(met.id, timezone.now()) != seen

    waited = wait_until(changed, seconds)
    return _met(of_agent(actor_of(request).agent, met.id)), waited


def _preference(answer: HttpResponse, request: HttpRequest, waited: bool) -> HttpResponse:
    if waited:
        answer["Preference-Applied"] = f"wait={int(seconds_asked(request))}"
    return answer
