"""The parts that the pages of a proposal share: facts, votes, policy, history, rail and decision form.

Each returns what one template in templates/components/ documents at its top. Quarantine pages use them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from huqan_site.lib import text_safety
from review.access import wording
from review.access.actors import PersonActor
from review.access.queries import is_manager, owners_now
from review.domain import status as states
from review.domain.decision import Case, Verdict
from review.domain.diff import whole
from review.domain.independence import Electorate
from review.domain.policy import FLOOR
from review.domain.requirements import Requirement, State, requirements
from review.domain.status import REVISABLE, Status
from review.domain.summary import asking
from review.effects import told
from review.queries import story
from review.queries.policies import place
from review.queries.queue import Filters, View
from review.queries.running import permit_of
from review.queries.story import Story, Written
from review.views.queue_address import Asked
from review.views.rows import outcome_of

if TYPE_CHECKING:
    from review.access.models import Person
    from review.models import Decision, Proposal, Revision
    from review.views.form import Typed

STATES = {
    State.MET: "met",
    State.NOT_MET: "open",
    State.NOT_MET_BY_YOU: "not_by_you",
    State.BLOCKS: "error",
    State.NOT_NEEDED: "not_needed",
}
RELEASE = "memory.release"
PLACES = 50  # of the arguments, that a comment can be about
APPROVABLE = (Status.PENDING, Status.QUARANTINED)


def sentence(
    proposal: Proposal, arguments: Mapping[str, Any], person: Person, now: datetime
) -> list[tuple[str, bool]]:
    """Return who asks what, in our words, as runs of (text, strong)."""
    asked = asking(proposal.tool, told(proposal.tool, arguments))
    who = (
        [(proposal.agent.name, True), *_owned_by(proposal, person, now)]
        if proposal.agent
        else [(story.proposer_names([proposal])[proposal.id], True)]
    )
    if proposal.erased_at and not arguments:
        return [
            *who,
            (_(" asked for something that was erased, by "), False),
            (proposal.tool, True),
            (".", False),
        ]
    asks = _(" asks to %(verb)s ") % {"verb": wording.said(asked.verb)}
    return [*who, (asks, False), (wording.said(asked.what), True), (".", False)]


def _owned_by(proposal: Proposal, person: Person, now: datetime) -> list[tuple[str, bool]]:
    agent = proposal.agent_id
    owners = owners_now([agent], now)[agent] if agent else []
    names = [_("you") if owner.id == person.id else owner.name for owner in owners]
    return [(_(", owned by "), False), (", ".join(names) or _("nobody"), True), (",", False)]


def facts(proposal: Proposal, now: datetime) -> dict[str, Any]:
    waiting = states.current(proposal.status, proposal.expires_at, now) is Status.PENDING
    return {
        "risk": proposal.risk,
        "tool": proposal.tool,
        "workspace": proposal.workspace.name,
        "revision": proposal.revision,
        "revisions": proposal.revision,
        "sent_at": proposal.submitted_at,
        "ends_at": proposal.expires_at,
        "outcome": None if waiting else outcome_of(proposal, now),
    }


def votes(past: Story, case: Case) -> dict[str, Any]:
    """Return every decision on the proposal; those on another binding are outdated, and say why."""
    proposal = past.proposal
    return {
        "given": proposal.approvals_given,
        "required": case.rule.people,
        "revision": proposal.revision,
        "rows": [_vote(row, _outdated(past, row)) for row in past.decisions],
    }


def author_of(revision: Revision, proposal: Proposal) -> str:
    """Return who wrote a revision, by name: a person who edited, else the agent."""
    if revision.author_person:
        return revision.author_person.name
    return proposal.agent.name if proposal.agent else ""


def _outdated(past: Story, cast: Decision) -> str:
    """Return why a decision counts no more, or nothing: what made the revision after it."""
    following = next((one for one in past.written if one.revision.number == cast.revision + 1), None)
    return " ".join(_made(following, past.proposal)) if following else ""


def _made(written: Written, proposal: Proposal) -> tuple[str, str]:
    """Return who made a revision, and how."""
    revision, number = written.revision, {"n": written.revision.number}
    if written.is_repeated:
        return _("The console"), _("bound the same arguments anew as revision %(n)d.") % number
    if revision.number == 1:
        return author_of(revision, proposal), _("proposed.")
    did = _("edited it into revision %(n)d.") if revision.author_person else _("sent revision %(n)d.")
    return author_of(revision, proposal), did % number


def _vote(cast: Decision, outdated: str = "") -> dict[str, Any]:
    did = {
        Verdict.APPROVE: _("approved revision %(n)d"),
        Verdict.REJECT: _("rejected revision %(n)d"),
        Verdict.REQUEST_CHANGES: _("requested changes to revision %(n)d"),
    }
    return {
        "who": cast.person.name,
        "did": did[Verdict(cast.verdict)] % {"n": cast.revision},
        "at": cast.created_at,
        "reason": cast.reason,
        "outdated": outdated,
    }


def policy(proposal: Proposal, case: Case, person: Person, now: datetime) -> dict[str, Any]:
    """Return the rule as rows: met, not met, not met by you, error."""
    tool = RELEASE if case.status is Status.QUARANTINED else proposal.tool
    version, number = place(proposal.workspace_id, tool)
    names = story.member_names(proposal.workspace_id)
    rows = requirements(case, person.id, now, names) if case.status in APPROVABLE else []
    return {
        "version": version,
        "rule": _("rule %(n)d") % {"n": number} if number else _unruled(tool),
        "tool": tool,
        "url": f"{reverse('policy')}?{urlencode({'workspace': proposal.workspace.name})}",
        "requirements": [_requirement(row) for row in rows],
    }


def _unruled(tool: str) -> str:
    return _("the floor") if tool in FLOOR else _("the defaults")


def _requirement(row: Requirement) -> dict[str, Any]:
    since = _("Since %(date)s. ") % {"date": date_format(row.since, "j M Y")} if row.since else ""
    return {
        "state": STATES[row.state],
        "sentence": row.sentence,
        "note": (since + row.note).strip(),
        "given": row.given,
        "required": row.needed,
    }


def history(
    past: Story, *, person: Person | None = None, since: datetime | None = None
) -> list[dict[str, Any]]:
    """Return what happened to the proposal, newest first: its revisions, its votes, what was said, and its end.

    What others than `person` did after `since` is marked as new.
    """
    events = [
        *_revision_events(past),
        *_decision_events(past),
        *_comment_events(past),
        *_permit_events(past.proposal),
        *_end_event(past.proposal),
    ]
    for event in events:
        of_another = person is None or event.get("person") != person.id
        event["new"] = since is not None and event["at"] > since and of_another
    return sorted(events, key=lambda event: event["at"], reverse=True)


def _revision_events(past: Story) -> Iterable[dict[str, Any]]:
    for written in past.written:
        who, did = _made(written, past.proposal)
        yield {"at": written.revision.created_at, "who": who, "did": f"{did} {_gate(written.revision)}"}


def _gate(revision: Revision) -> str:
    codes = ", ".join(wording.said(signal["code"].replace("_", " ")) for signal in revision.gate["signals"])
    return _("Gate: %(outcome)s (%(codes)s).") % {
        "outcome": wording.said(revision.gate["outcome"]),
        "codes": codes or _("no signal"),
    }


def _decision_events(past: Story) -> Iterable[dict[str, Any]]:
    for row in past.decisions:
        did = f"{_vote(row)['did']}."
        yield {"at": row.created_at, "who": row.person.name, "person": row.person_id, "did": did}


def _comment_events(past: Story) -> Iterable[dict[str, Any]]:
    for row in past.comments:
        yield {
            "at": row.created_at,
            "who": row.person.name,
            "person": row.person_id,
            "did": _("commented on revision %(n)d.") % {"n": row.revision},
            "place": row.pointer,
            "text": row.text,
        }


def comment_form(proposal: Proposal, revision: Revision, typed: Typed) -> dict[str, Any] | None:
    """Return templates/components/comment_form.html's context, or None where what was said is erased."""
    if proposal.erased_at is not None:
        return None
    pointers = [row.pointer for row in whole(revision.arguments).rows[:PLACES]]
    plain = [pointer for pointer in pointers if pointer and not text_safety.inspect_value(pointer)]
    return {
        "url": reverse("comment", args=[proposal.id]),
        "places": [("", _("all of it")), *((pointer, pointer) for pointer in plain)],
        "text": typed.comment,
        "error": typed.comment_error,
    }


def _permit_events(proposal: Proposal) -> Iterable[dict[str, Any]]:
    permit = permit_of(proposal) if proposal.decided_at else None
    if permit is None:
        return
    took = _("took the permit, good until %(at)s UTC.") % {"at": permit.expires_at.strftime("%H:%M:%S")}
    yield {"at": permit.issued_at, "who": permit.redeemed_by.name, "did": took}
    if permit.spent_at:
        yield {"at": permit.spent_at, "who": permit.audience, "did": _("spent the permit.")}
    if permit.voided_at:
        yield {"at": permit.voided_at, "who": _("The console"), "did": _("voided the permit.")}


def _end_event(proposal: Proposal) -> Iterable[dict[str, Any]]:
    did = {
        Status.EXECUTED: _("carried it out."),
        Status.APPROVED: _("made it ready to be run once."),
        Status.RUNNING: _("made it ready to be run once."),
        Status.EXPIRED: _("let it expire. Nothing runs."),
        Status.SUCCEEDED: _("noted that it succeeded."),
        Status.FAILED: _("noted that it failed."),
        Status.UNKNOWN: _("does not know how it ended."),
    }
    ruled = bool((proposal.outcome or {}).get("ruled"))
    if ruled:
        did |= {Status.SUCCEEDED: _("ruled that it succeeded."), Status.FAILED: _("ruled that it failed.")}
    who = _("A person") if ruled else _("The console")
    if proposal.decided_at and (ending := did.get(Status(proposal.status))):
        yield {"at": proposal.decided_at, "who": who, "did": ending}
    if proposal.decided_at and proposal.status == Status.WITHDRAWN:
        who = story.proposer_names([proposal])[proposal.id]
        yield {"at": proposal.decided_at, "who": who, "did": _("withdrew it.")}


def edit_url(proposal: Proposal, electorate: Electorate, person: Person, now: datetime) -> str | None:
    """Return where this person edits the arguments, or None where he cannot: held, over, or no deciding role."""
    standing = states.current(proposal.status, proposal.expires_at, now)
    if standing not in REVISABLE or proposal.agent is None:
        return None
    holds = electorate.membership(person.id, now) is not None
    return reverse("edit", args=[proposal.id]) if holds else None


def audit_url(proposal: Proposal, person: Person, now: datetime) -> str | None:
    """Return where a manager follows this proposal in the log."""
    manages = is_manager(person.id, proposal.workspace_id, now)
    return reverse("audit_life", args=[proposal.id]) if manages else None


def rail(past: Story, case: Case, person: Person, now: datetime) -> dict[str, Any]:
    """Return what identifies the proposal; nothing in it is needed for a decision."""
    proposal = past.proposal
    return {
        "binding": proposal.binding,
        "revisions": list(_revisions(past)),
        "run": {"id": proposal.run_id, "url": Asked(View.DECIDED, Filters(run=proposal.run_id)).url()}
        if proposal.run_id
        else None,
        "proposal": proposal.id,
        "eligible": _eligible(case.electorate.eligible(now), person) if case.status in APPROVABLE else "",
        "extra": [],
    }


def _revisions(past: Story) -> Iterable[dict[str, Any]]:
    proposal = past.proposal
    for row in past.revisions:
        current = row.number == proposal.revision
        url = None if current else f"{reverse('proposal', args=[proposal.id])}?base=r{row.number}"
        yield {
            "number": row.number,
            "current": current,
            "note": _("current,") if current else _("sent"),
            "at": row.created_at,
            "url": url,
        }


def _eligible(people: frozenset[UUID], person: Person) -> str:
    if not people:
        return _("None at the moment")
    among = _(", you among them") if person.id in people else ""
    return f"{len(people)}{among}"


def evidence(revision: Revision) -> list[dict[str, Any]]:
    """Return what the agent named; a reference is shown as text, never as a link of the agent's."""
    return [
        {
            "title": item["title"],
            "ref": item.get("ref") or "",
            "text": item.get("text") or "",
            "opened_by": "",
            "url": None,
        }
        for item in revision.evidence
    ]


def agent_words(proposal: Proposal, revision: Revision) -> dict[str, Any]:
    """Return the agent's name and what it said last; what a person wrote as a reason is never shown as its words."""
    spoken = revision if revision.author_person_id is None else story.last_of_agent(proposal)
    return {
        "agent": proposal.agent.name if proposal.agent else "",
        "words": spoken.rationale if spoken else "",
        "editor": revision.author_person and revision.author_person.name,
        "editor_words": revision.rationale if revision.author_person else "",
        "editor_began": proposal.agent is None,
    }


def closed(proposal: Proposal, case: Case, actor: PersonActor, now: datetime) -> dict[str, str]:
    """Return what stands in the bar's place when this person has nothing left to decide."""
    if case.electorate.membership(actor.person.id, now) is None and case.status in (
        Status.PENDING,
        Status.QUARANTINED,
    ):
        note = _("You can read it. Deciding it takes an active %(role)s role in %(workspace)s.") % {
            "role": wording.said(case.electorate.role),
            "workspace": proposal.workspace.name,
        }
        return {"title": _("Others decide this."), "note": note}
    note = _("Reason: %(reason)s") % {"reason": proposal.reason} if proposal.reason else ""
    return {"title": ended(states.current(proposal.status, proposal.expires_at, now)), "note": note}


def ended(status: Status) -> str:
    return {
        Status.EXPIRED: _("Expired. Nothing runs, and nobody can extend it."),
        Status.EXECUTED: _("Carried out, once."),
        Status.REJECTED: _("Rejected. Nothing runs."),
        Status.WITHDRAWN: _("Withdrawn by whoever proposed it. Nothing runs."),
        Status.CHANGES_REQUESTED: _("Returned for changes. Decide on the next revision."),
        Status.RUNNING: _("Taken by its executor. No outcome has been reported yet."),
        Status.SUCCEEDED: _("It ran and succeeded."),
        Status.FAILED: _("It ran and failed."),
        Status.UNKNOWN: _("It was let run, and nobody has said how it ended."),
    }.get(status, _("Nothing is left to decide here."))


def people_needed(number: int) -> str:
    return ngettext("%(n)d more person is needed.", "%(n)d more people are needed.", number) % {"n": number}
