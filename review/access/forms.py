"""What the pages of this app read from a form, and nothing else. What may be is for the services to say."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from review.access.models import Workspace
from review.access.queries import Member
from review.access.roles import Role, Scope

PasswordInput = forms.PasswordInput(attrs={"autocomplete": "current-password"})
NewPasswordInput = forms.PasswordInput(attrs={"autocomplete": "new-password"})


class NewPassword(forms.Form):
    """A password, typed twice."""

    password = forms.CharField(
        label=_("New password"), widget=NewPasswordInput, strip=False, help_text=_("At least 12 characters.")
    )
    again = forms.CharField(label=_("The same again"), widget=NewPasswordInput, strip=False)

    def clean(self) -> dict[str, Any]:
        typed = super().clean() or {}
        if typed.get("password") != typed.get("again"):
            self.add_error("again", _("The two differ. Type the same password twice."))
        return typed


class OtherPassword(NewPassword):
    """The current password, and a new one."""

    field_order = ("current", "password", "again")
    current = forms.CharField(label=_("Current password"), widget=PasswordInput, strip=False)


class Delegate(forms.Form):
    """An agent that may act for whoever sends the form."""

    agent = forms.TypedChoiceField(label=_("Agent"), coerce=UUID)

    def __init__(self, *args: Any, agents: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].choices = agents  # type: ignore[attr-defined]


class Mint(forms.Form):
    """A new token of an agent."""

    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(label=_("Days it lasts"), min_value=1, max_value=90, initial=90)


class InWorkspace(forms.Form):
    """Something in one of the workspaces that the sender manages."""

    workspace = forms.TypedChoiceField(label=_("Workspace"), coerce=UUID)

    def __init__(self, *args: Any, workspaces: list[Workspace], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["workspace"].choices = [(str(w.id), w.name) for w in workspaces]  # type: ignore[attr-defined]


class Why(forms.Form):
    """Why an agent is stopped. That something must be said is for the service to say."""

    reason = forms.CharField(label=_("Reason"), max_length=2000, required=False)


class StopAll(InWorkspace, Why):
    """Why every agent of a workspace is stopped."""


class Owner(forms.Form):
    """The member who answers for an agent."""

    owner = forms.TypedChoiceField(label=_("Who answers for it"), coerce=UUID)

    def __init__(self, *args: Any, members: list[Member], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = {str(member.person.id): member.person.name for member in members}
        self.fields["owner"].choices = list(people.items())  # type: ignore[attr-defined]


class NewAgent(InWorkspace, Owner):
    """An agent and the member who answers for it."""

    name = forms.CharField(label=_("Name"), max_length=64)


class NewWebhook(forms.Form):
    """Where an agent wants to be told. What may be an address is for the service to say."""

    url = forms.CharField(label=_("Address"), max_length=2048)


class Invite(InWorkspace):
    """A new person with an account and a role."""

    name = forms.CharField(label=_("Name"), max_length=150)
    username = forms.CharField(label=_("Account name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class Grant(InWorkspace):
    """A role for somebody who has an account already."""

    username = forms.CharField(label=_("Account name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, auto_id="grant_%s", **kwargs
        )  # it stands beside Invite, whose fields it shares
