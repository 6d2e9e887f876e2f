"""The policy of a workspace: what runs, how it came to be, and the editor with which a manager proposes another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from huqan_site.lib import strict_json
from huqan_site.lib.canonical_json import JSON, canonical, digest
from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.queries import is_manager, workspaces_of
from review.access.refusals import NotManager
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.editing import as_json
from review.domain.refusals import NotFound, ReasonRequired, StaleRevision
from review.queries.bases import Base, arguments_of
from review.queries.policies import document_of, in_force
from review.queries.policy_changes import consequences, history, house_of, waiting
from review.queries.visible import revisable_by, visible
from review.services.propose_policy import TOOL, Draft, propose_policy, refuse_document
from review.services.revise_policy import revise_policy
from review.views import policy_rows
from review.views.differences import comparison
from review.views.form import number_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from review.access.models import Workspace
    from review.models import Proposal

KEPT = gettext_lazy("What you typed is kept; sending it again replaces the revision that is current now.")
CANNOT_STAND = gettext_lazy("It cannot stand as it is written. Each place is listed below; the text is kept.")


@require_safe
@signed_in
def policy(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Show one version, the running one unless another is asked for, and what differs from a third."""
    workspace, places = _workspace(request.GET.get("workspace", ""), actor)
    running = in_force(workspace.id)
    number = _number(request.GET.get("version", ""), running.version)
    document = _version(workspace, number)
    against = _number(request.GET.get("against", ""), number)

    context = {
        "workspace": workspace.name,
        "workspaces": [(place.name, place.name) for place in places] if len(places) > 1 else [],
        "shown": {"number": number, "running": number == running.version},
        "rules": policy_rows.rules(document, house_of(workspace.id)),
        "text": as_json(document),
        "waiting": [_waiting(row) for row in waiting(workspace.id)],
        "versions": [_in_history(row, workspace, number) for row in history(workspace.id)],
        "against": against,
        "diff": _diff(_version(workspace, against), document) if against != number else None,
        "edit_url": _edit_url(workspace) if _manages(actor, workspace) else None,
    }
    return render(request, "policy/policy.html", context)


class Written(NamedTuple):
    """What stands in the editor: the text, the version it was made from, what it was compared as, and why.

    `proposal` is the one of which it becomes another revision, in place of number `revision`; None for a new one.
    """

    text: str
    replaces: int
    compared: str = ""
    reason: str = ""
    proposal: UUID | None = None
    revision: int = 0


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Show the editor; a text that was sent is compared with what runs, and nothing is recorded."""
    if request.method != "POST":
        workspace = _managed(request.GET.get("workspace", ""), actor)
        return _editor(request, workspace, _to_begin_with(request, actor, workspace))
    workspace, written = _managed(request.POST.get("workspace", ""), actor), _written(request)
    try:
        document = _read(written.text)
        refuse_document(workspace, document)
    except Refusal as refusal:
        return _editor(request, workspace, written, refusal=refusal)
    return _editor(request, workspace, written, document=document)


@require_POST
@signed_in
def propose(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Propose what was compared; its page is where the other managers decide."""
    workspace, _places = _workspace(request.POST.get("workspace", ""), actor)
    written, document = _written(request), None
    try:
        document = _read(written.text)
        made = _sent(workspace, written, document, actor)
    except (NotFound, NotManager):
        raise
    except StaleRevision as refusal:
        now_replaces = written._replace(revision=refusal.extra["revision"])
        return _editor(request, workspace, now_replaces, document=document, refusal=refusal)
    except Refusal as refusal:
        kept = document if isinstance(refusal, ReasonRequired) else None
        return _editor(request, workspace, written, document=kept, refusal=refusal)
    return HttpResponseRedirect(reverse("proposal", args=[made.id]))


def _sent(
    workspace: Workspace, written: Written, document: Mapping[str, Any], actor: PersonActor
) -> Proposal:
    draft = Draft(document, written.replaces, written.reason, compared=written.compared)
    if written.proposal is None:
        return propose_policy(workspace, draft, by=actor)
    change = _change(workspace, written.proposal, actor)
    return revise_policy(change.id, draft, revision=written.revision, by=actor)


def _workspace(name: str, actor: PersonActor) -> tuple[Workspace, list[Workspace]]:
    """Return the workspace of that name, the first one without a name, and all in which he has a role.

    Raises: NotFound, the same for one that is not there and one in which he has no role.
    """
    places = workspaces_of(actor.person.id, timezone.now())
    found = [place for place in places if name in ("", place.name)]
    if not found:
        raise NotFound
    return found[0], places


def _managed(name: str, actor: PersonActor) -> Workspace:
    workspace, places = _workspace(name, actor)
    if not name:
        workspace = next((place for place in places if _manages(actor, place)), workspace)
    if not _manages(actor, workspace):
        raise NotManager
    return workspace


def _manages(actor: PersonActor, workspace: Workspace) -> bool:
    return is_manager(actor.person.id, workspace.id, timezone.now())


def _number(text: str, otherwise: int) -> int:
    number = number_of(text)
    return otherwise if number is None else number


def _version(workspace: Workspace, number: int) -> Any:
    document = document_of(workspace.id, number)
    if document is None:
        raise NotFound
    return document


def _diff(before: Any, after: Any) -> dict[str, Any]:
    return comparison(Base("version", canonical(before)), canonical(after))


def _edit_url(workspace: Workspace) -> str:
    return f"{reverse('policy_edit')}?{urlencode({'workspace': workspace.name})}"


def _in_history(row: Any, workspace: Workspace, shown: int) -> dict[str, Any]:
    asked = {"workspace": workspace.name, "version": shown, "against": row.number}
    return {
        "number": row.number,
        "written_by": row.written_by or _("set up"),
        "approved_by": row.approved_by,
        "at": row.at,
        "proposal_url": reverse("proposal", args=[row.proposal]) if row.proposal else None,
        "show_url": f"?{urlencode({'workspace': workspace.name, 'version': row.number})}",
        "compare_url": f"?{urlencode(asked)}#differences" if row.number != shown else None,
        "current": row.number == shown,
    }


def _waiting(row: Any) -> dict[str, Any]:
    return {"url": reverse("proposal", args=[row.proposal]), "by": row.written_by, "at": row.at}


def _written(request: HttpRequest) -> Written:
    posted = request.POST
    return Written(
        text=text_of(posted.get("policy", "")),
        replaces=_number(posted.get("replaces", ""), -1),
        compared=posted.get("compared", ""),
        reason=text_of(posted.get("reason", "")),
        proposal=_id(posted.get("proposal", "")),
        revision=_number(posted.get("revision", ""), 0),
    )


def _read(text: str) -> dict[str, JSON]:
    return strict_json.read(text.strip().encode("utf-8", "surrogatepass"))


def _to_begin_with(request: HttpRequest, actor: PersonActor, workspace: Workspace) -> Written:
    """What runs; or what an earlier proposal said, as its next revision where he can make one, else as a new one."""
    running, earlier = in_force(workspace.id), _id(request.GET.get("from", ""))
    if earlier is None:
        return Written(as_json(dict(running.document or policy_rows.BEGINNING)), running.version)
    change = _change(workspace, earlier, actor)
    written = Written(as_json(arguments_of(change)["policy"]), running.version)
    if not revisable_by(change, actor.person.id, timezone.now()):
        return written
    return written._replace(proposal=change.id, revision=change.revision)


def _change(workspace: Workspace, proposal_id: UUID, actor: PersonActor) -> Proposal:
    """Return that change of the policy of `workspace`. Raises: NotFound."""
    proposal = visible(actor.person, proposal_id, timezone.now())
    if proposal.tool != TOOL or proposal.workspace_id != workspace.id:
        raise NotFound
    return proposal


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _editor(
    request: HttpRequest,
    workspace: Workspace,
    written: Written,
    *,
    document: dict[str, JSON] | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    context = {
        "back": {"url": f"{reverse('policy')}?workspace={workspace.name}", "label": _("Policy"), "place": ""},
        "workspace": workspace.name,
        "status": _status(refusal),
        "errors": [error._asdict() for error in refusal.errors] if refusal else [],
        "text": written.text,
        "reason": written.reason,
        "reason_error": refusal.detail if isinstance(refusal, ReasonRequired) else "",
        "compared": _compared(workspace, document) if document is not None else None,
        "replaces": in_force(workspace.id).version if document is not None else written.replaces,
        "revises": {"proposal": written.proposal, "revision": written.revision, "next": written.revision + 1}
        if written.proposal
        else None,
    }
    return render(request, "policy/edit.html", context, status=refusal.status if refusal else 200)


def _compared(workspace: Workspace, document: dict[str, JSON]) -> dict[str, Any]:
    running, found = in_force(workspace.id), consequences(workspace.id, document)
    return {
        "digest": digest(document),
        "running": found.running,
        "diff": _diff(running.document, document),
        "changes": [change._asdict() for change in found.changes],
        "unmet": [{"tool": tool, "sentence": sentence} for tool, sentence in found.unmet],
    }


def _status(refusal: Refusal | None) -> dict[str, Any] | None:
    if refusal is None:
        return None
    why = CANNOT_STAND if refusal.errors else refusal.detail
    meanwhile = str(KEPT) if isinstance(refusal, StaleRevision) else ""
    return refused_status(refusal, _("Not proposed. %(why)s") % {"why": why}, meanwhile)
