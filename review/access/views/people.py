"""Managers set up people: who is in the workspace, with which roles, and since when."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import queries
from review.access.actors import PersonActor
from review.access.forms import Grant, Invite
from review.access.models import Membership, Workspace
from review.access.queries import Member
from review.access.refusals import NotAMember
from review.access.roles import Role
from review.access.roster import teams
from review.access.services import links
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.people import Invited, create_person_with_account
from review.access.sessions import signed_in
from review.access.views.shared import managed, show


@require_safe
@signed_in
def people(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    return _people_page(request, managed(actor))


@require_POST
@signed_in
def invite(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Make an account with a role; its one-time link is shown in the answer, this once."""
    workspaces = managed(actor)
    form = Invite(request.POST, workspaces=workspaces)
    if not form.is_valid():
        return _people_page(request, workspaces, invite_form=form)
    told = form.cleaned_data
    try:
        invited = create_person_with_account(
            told["name"], told["username"], by=actor, workspace=told["workspace"], role=Role(told["role"])
        )
    except Refusal as refusal:
        return _people_page(request, workspaces, invite_form=form, refusal=refusal)
    return _people_page(request, workspaces, invited=invited)


@require_POST
@signed_in
def grant(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Give a role to somebody who has an account already."""
    workspaces = managed(actor)
    form = Grant(request.POST, workspaces=workspaces)
    if not form.is_valid():
        return _people_page(request, workspaces, grant_form=form)
    told = form.cleaned_data
    try:
        grant_membership(_named(told["username"]), told["workspace"], Role(told["role"]), by=actor)
    except Refusal as refusal:
        return _people_page(request, workspaces, grant_form=form, refusal=refusal)
    return redirect("people")


@require_POST
@signed_in
def revoke(request: HttpRequest, actor: PersonActor, membership: UUID) -> HttpResponse:
    revoke_membership(membership, by=actor)
    return redirect("people")


def _named(username: str) -> UUID:
    user = queries.account(username)
    if user is None:
        raise NotAMember("No account has this name. Invite the person instead.")
    return user.person_id


def _people_page(
    request: HttpRequest,
    workspaces: list[Workspace],
    *,
    invite_form: Invite | None = None,
    grant_form: Grant | None = None,
    invited: Invited | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    said = {
        "teams": [
            {"workspace": team.workspace.name, "members": [_member(member) for member in team.members]}
            for team in teams(workspaces)
        ],
        "invite_form": invite_form or Invite(workspaces=workspaces),
        "grant_form": grant_form or Grant(workspaces=workspaces),
        "invited": _invited(invited) if invited else None,
    }
    return show(request, "access/people.html", said, refusal=refusal, form=invite_form or grant_form)


def _member(member: Member) -> dict[str, Any]:
    return {
        "name": member.person.name,
        "accounts": member.accounts,
        "roles": [_role(membership) for membership in member.memberships],
    }


def _role(membership: Membership) -> dict[str, Any]:
    return {
        "role": membership.role,
        "groups": membership.groups,
        "since": membership.since,
        "revoke_url": reverse("membership_revoke", args=[membership.id]),
    }


def _invited(invited: Invited) -> dict[str, str]:
    return {"account": invited.user.username, "link": links.address(invited.secret)}
