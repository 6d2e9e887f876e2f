"""Managers set up people: who is in the workspace, with which roles, since and until when; inviting them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import mails
from review.access.actors import PersonActor
from review.access.forms import Grant, Invite
from review.access.models import Membership, Workspace
from review.access.queries import Member
from review.access.roles import Role
from review.access.roster import Team, teams
from review.access.services import links
from review.access.services.memberships import Terms, grant_membership, revoke_membership
from review.access.services.people import Invited, create_person_with_account
from review.access.sessions import signed_in
from review.access.staffing import gaps, last_sign_ins
from review.access.views.shared import managed, person_named, show


@require_safe
@signed_in
def people(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    return _people_page(request, managed(actor))


@require_POST
@signed_in
def invite(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Make an account with roles; its one-time link is shown in the answer, this once."""
    workspaces = managed(actor)
    form = Invite(request.POST, workspaces=workspaces)
    if not form.is_valid():
        return _people_page(request, workspaces, invite_form=form)
    try:
        invited = _invite(form.cleaned_data, actor)
    except Refusal as refusal:
        return _people_page(request, workspaces, invite_form=form, refusal=refusal)
    return _people_page(request, workspaces, invited=link_shown_once(invited, _("Set up your account")))


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
        person, role = (
            person_named(told["username"], "No account has this name. Invite the person instead."),
            Role(told["role"]),
        )
        grant_membership(
            person, told["workspace"], role, by=actor, groups=told["groups"], until=told["until"]
        )
    except Refusal as refusal:
        return _people_page(request, workspaces, grant_form=form, refusal=refusal)
    return redirect("people")


@require_POST
@signed_in
def revoke(request: HttpRequest, actor: PersonActor, membership: UUID) -> HttpResponse:
    """End a role; back to the list, or to nothing of it where it was one's own."""
    revoke_membership(membership, by=actor)
    return redirect("people")


def link_shown_once(made: Invited, subject: str) -> dict[str, Any]:
    """Return what the page shows of a new one-time link; it is mailed, too, where there is an address."""
    link = links.address(made.secret)
    text = _("This page lets you choose the password of %(account)s, once, within 72 hours:\n%(link)s\n") % {
        "account": made.user.username,
        "link": link,
    }
    mailed = mails.send(made.user.email, subject, text) if made.user.email else None
    return {"account": made.user.username, "link": link, "address": made.user.email, "mailed": mailed}


def _invite(told: dict[str, Any], actor: PersonActor) -> Invited:
    return create_person_with_account(
        told["name"],
        told["username"],
        by=actor,
        workspace=told["workspace"],
        roles=[Role(role) for role in told["roles"]],
        terms=Terms(told["groups"], told["until"]),
        email=told["email"],
    )


def _people_page(
    request: HttpRequest,
    workspaces: list[Workspace],
    *,
    invite_form: Invite | None = None,
    grant_form: Grant | None = None,
    invited: dict[str, Any] | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    signed_in_at = last_sign_ins(workspaces)
    said = {
        "teams": [_team(team, signed_in_at) for team in teams(workspaces)],
        "invite_form": invite_form or Invite(workspaces=workspaces),
        "grant_form": grant_form or Grant(workspaces=workspaces),
        "invited": invited,
        "can_mail": mails.can_send(),
    }
    return show(request, "access/people.html", said, refusal=refusal, form=invite_form or grant_form)


def _team(team: Team, signed_in_at: dict[str, datetime]) -> dict[str, Any]:
    return {
        "workspace": team.workspace.name,
        "gaps": gaps(team.workspace),
        "members": [_member(member, signed_in_at) for member in team.members],
    }


def _member(member: Member, signed_in_at: dict[str, datetime]) -> dict[str, Any]:
    times = [signed_in_at[account] for account in member.accounts if account in signed_in_at]
    return {
        "name": member.person.name,
        "accounts": member.accounts,
        "url": reverse("person", args=[member.person.id]),
        "last_sign_in": max(times, default=None),
        "roles": [role_row(membership) for membership in member.memberships],
    }


def role_row(membership: Membership) -> dict[str, Any]:
    """Return a row of a table of roles."""
    return {
        "role": membership.role,
        "groups": membership.groups,
        "since": membership.since,
        "until": membership.until,
        "revoke_url": reverse("membership_revoke", args=[membership.id]),
    }
