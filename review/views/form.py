"""The decision form: what it shows, and what is read from it. Nothing else of the request is looked at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from huqan_site.lib.canonical_json import JSON, canonical
from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.factors import has_second
from review.domain.binding import Kind
from review.domain.decision import FRESH, OPEN_TO, Case, Verdict, needs_reason, tally, why_not
from review.domain.diff import whole
from review.domain.policy import text_to_type
from review.domain.refusals import ConfirmMismatch, ReasonRequired, StepUpRequired
from review.domain.status import Status
from review.queries.bases import Base
from review.services import nonce
from review.services.decide import Ballot
from review.views.meanwhile import poll_url

if TYPE_CHECKING:
    from review.models import Proposal, Revision


@dataclass(frozen=True)
class Typed:
    """What a person typed into the form, kept when the decision was not recorded."""

    verdict: str = ""
    reason: str = ""
    confirm: str = ""
    tombstone: bool = False
    fields: tuple[str, ...] = ()
    refusal: Refusal | None = None
    comment: str = ""
    comment_error: str = ""


@dataclass(frozen=True)
class Words:
    """How the verdicts are called on a page: deciding a call, or releasing what is held."""

    approve: str
    reject: str
    what: str


def ballot_of(request: HttpRequest, *, factor_at: datetime | None) -> Ballot:
    """Read the form that was posted. Who sent it is not in it."""
    posted = request.POST
    return Ballot(
        verdict=posted.get("verdict", ""),
        revision=number_of(posted.get("revision", "")),
        binding=posted.get("binding", ""),
        nonce=posted.get("nonce", ""),
        reason=text_of(posted.get("reason", "")),
        confirm=posted.get("confirm", ""),
        factor_at=factor_at,
        tombstone=posted.get("tombstone") == "1",
        fields=tuple(
            text_of(pointer) for pointer in posted.getlist("fields")[:100] if pointer.startswith("/")
        ),
    )


def typed_of(ballot: Ballot, refusal: Refusal) -> Typed:
    """Return what to keep of a ballot that was refused."""
    return Typed(ballot.verdict, ballot.reason, ballot.confirm, ballot.tombstone, ballot.fields, refusal)


def number_of(text: str) -> int | None:
    """Return the number that a field carried, or None where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def text_of(text: str) -> str:
    """Return what was typed; U+0000, which the database cannot keep, becomes the sign that stands for it."""
    return text.replace("\0", "␀").replace("\r\n", "\n")


def shown_digest(proposal: Proposal, revision: Revision, base: Base, parts: Any) -> str:
    """Return the digest of what the page shows: the bytes, the base, the warnings and the preview beside them."""
    shown: JSON = {
        "proposal": str(proposal.id),
        "revision": revision.number,
        "binding": proposal.binding,
        "arguments": revision.arguments,
        "base": base.key,
        "base_text": base.text,
        "parts": canonical(parts),
    }
    return hashlib.sha256(canonical(shown).encode()).hexdigest()


def decision_form(
    proposal: Proposal,
    revision: Revision,
    case: Case,
    actor: PersonActor,
    *,
    base: Base,
    unread: str,
    page: str,
    words: Words,
    typed: Typed,
    action: str,
    now: datetime,
) -> dict[str, Any] | None:
    """Return templates/components/decision_form.html's context, or None when this person may decide nothing.

    `unread`: why nobody can approve on this page, or nothing; then its nonce serves no approval either.
    """
    open_to = OPEN_TO.get(Status(case.status), ()) if not _is_over(case, now) else ()
    if not open_to or case.electorate.membership(actor.person.id, now) is None:
        return None
    why = why_not(case, actor.person.id, now) or unread
    return {
        "action": action,
        "poll_url": poll_url(proposal, now),
        "revision": proposal.revision,
        "binding": proposal.binding,
        "nonce": form_nonce(proposal, actor, base, not unread, page, now),
        "start": typed.verdict if typed.refusal and typed.verdict in list(Verdict) else None,
        "held": case.status is Status.QUARANTINED,
        "verdicts": [_verdict(verdict, case, words, bool(why), now) for verdict in _in_order(open_to)],
        "bar_title": why or "",
        "bar_note": _note(why, open_to),
        "votes": {"given": proposal.approvals_given, "required": case.rule.people},
        "so_far": "",
        "you_decide": _("%(tool)s, revision %(n)d") % {"tool": proposal.tool, "n": proposal.revision},
        "recorded_as": actor.person.name,
        "reason": typed.reason,
        "reason_help": _reason_help(case),
        "reason_error": typed.refusal.detail if isinstance(typed.refusal, ReasonRequired) else "",
        "confirm": _confirm(case, typed, now),
        "password": _password(case, actor, typed, now),
        "tombstone": _tombstone(proposal, case, typed),
        "fields": _fields(revision, open_to, typed),
    }


def _is_over(case: Case, now: datetime) -> bool:
    return case.status is not Status.QUARANTINED and case.expires_at is not None and now >= case.expires_at


def _in_order(open_to: tuple[Verdict, ...]) -> list[Verdict]:
    return [
        verdict
        for verdict in (Verdict.REJECT, Verdict.REQUEST_CHANGES, Verdict.APPROVE)
        if verdict in open_to
    ]


def form_nonce(
    proposal: Proposal, actor: PersonActor, base: Base, decidable: bool, page: str, now: datetime
) -> str:
    """Return the nonce of a form that shows `proposal` against `base`, on a page of that digest."""
    compared = (nonce.REVIEWED if decidable else nonce.OTHER) + base.key
    shown = nonce.Shown(actor.person.id, proposal.id, proposal.binding, compared, page)
    return nonce.issue(shown, now=now)


def _verdict(
    verdict: Verdict, case: Case, words: Words, approve_is_off: bool, now: datetime
) -> dict[str, Any]:
    called = {
        Verdict.REJECT: (words.reject, "r", _("It ends, and nothing runs.")),
        Verdict.REQUEST_CHANGES: (_("Request changes"), "c", _("The agent can send another revision.")),
        Verdict.APPROVE: (words.approve, "a", _leads_to(case, now)),
    }
    name, key, leads_to = called[verdict]
    return {
        "verdict": verdict.value,
        "open": f"{name}…",
        "title": name if verdict is Verdict.REQUEST_CHANGES else f"{name} {words.what}",
        "final": name if verdict is Verdict.REQUEST_CHANGES else f"{name} {words.what}",
        "leads_to": leads_to,
        "key": key,
        "off": verdict is Verdict.APPROVE and approve_is_off,
    }


def _leads_to(case: Case, now: datetime) -> str:
    needed = case.rule.people
    nth = min(tally(case, now).given + 1, needed)
    last = nth == needed
    after = _("It waits for more people.")
    if last and case.electorate.kind == Kind.TOOL_CALL:
        after = _("The agent can then take one permit, for these bytes, once.")
    elif last:
        after = _("It then takes effect, once.")
    return _("This is approval %(nth)d of %(needed)d.") % {"nth": nth, "needed": needed} + f" {after}"


def _note(why: str | None, open_to: tuple[Verdict, ...]) -> str:
    if not why:
        return ""
    if Verdict.REQUEST_CHANGES in open_to:
        return _("Rejecting and requesting changes stay open to you.")
    return _("Rejecting stays open to you.")


def _reason_help(case: Case) -> str:
    if needs_reason(case.rule, Verdict.APPROVE):
        return _("Needed: this is high risk. The agent and the audit trail keep it.")
    return _("Needed to reject or to request changes. The agent and the audit trail keep it.")


def _confirm(case: Case, typed: Typed, now: datetime) -> dict[str, Any] | None:
    if not case.rule.confirm:
        return None
    error = typed.refusal.detail if isinstance(typed.refusal, ConfirmMismatch) else ""
    value = text_to_type(case.rule, case.arguments)
    return {"pointer": case.rule.confirm, "value": value, "typed": typed.confirm, "error": error}


def _password(case: Case, actor: PersonActor, typed: Typed, now: datetime) -> dict[str, str] | None:
    """Ask a little before the factor is too old, so that reading the page does not make it so."""
    fresh = actor.auth_time is not None and now - actor.auth_time < FRESH - timedelta(minutes=1)
    if not case.rule.step_up or fresh:
        return None
    signed_in = actor.auth_time.strftime("%H:%M UTC") if actor.auth_time else _("unknown")
    error = typed.refusal.detail if isinstance(typed.refusal, StepUpRequired) else ""
    by_code = has_second(actor.user)
    return {
        "label": _("A code of your second factor") if by_code else _("Your password"),
        "autocomplete": "one-time-code" if by_code else "current-password",
        "help": _("The rule asks for a sign-in at most 5 minutes old. Yours is from %(at)s.")
        % {"at": signed_in},
        "error": error,
    }


def _tombstone(proposal: Proposal, case: Case, typed: Typed) -> dict[str, Any] | None:
    if proposal.kind != Kind.MEMORY_WRITE or case.status is not Status.PENDING:
        return None
    return {"help": _("Also in other letters. Lifting it is a proposal."), "checked": typed.tombstone}


def _fields(revision: Revision, open_to: tuple[Verdict, ...], typed: Typed) -> list[dict[str, Any]]:
    if Verdict.REQUEST_CHANGES not in open_to:
        return []
    pointers = [row.pointer for row in whole(revision.arguments).rows][:50]
    return [{"pointer": pointer, "checked": pointer in typed.fields} for pointer in pointers]
