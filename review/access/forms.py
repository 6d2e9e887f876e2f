"""What the pages of this app read from a form, and nothing else. What may be is for the services to say."""

from __future__ import annotations

from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from allauth.account.adapter import get_adapter
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm
from django import forms
from django.utils.translation import gettext_lazy as _

from review.access.models import Workspace
from review.access.queries import Member
from review.access.roles import Language, Often, Role, Scope

ROLES = [(Role.REVIEWER.value, _("Reviewer")), (Role.MANAGER.value, _("Manager"))]
PasswordInput = forms.PasswordInput(attrs={"autocomplete": "current-password"})
CodeInput = forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"})
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


class Forgotten(forms.Form):
    """The account whose password is forgotten."""

    username = forms.CharField(
        label=_("User name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )


class SecondFactor(AuthenticateForm):  # type: ignore[misc]  # allauth ships no types
    """The code after the password at a sign-in; a wrong one is recorded like a wrong password."""

    code = forms.CharField(label=_("Code"), widget=CodeInput, help_text=_("Of your app, or a recovery code."))

    def _emit_authentication_failed(self, authenticator: Any) -> None:
        get_adapter().authentication_failed(context.request, username=self.user.username)


class Proof(forms.Form):
    """A password or a code, where how somebody signs in is changed."""

    password = forms.CharField(widget=PasswordInput, strip=False)

    def __init__(self, *args: Any, by_code: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["password"]
        field.label = _("A code of your second factor") if by_code else _("Your password")
        if by_code:
            field.widget = CodeInput


class Address(Proof):
    """Where mail goes to; empty for none."""

    field_order = ("address", "password")
    address = forms.EmailField(
        label=_("Mail address"),
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
        help_text=_(
            "For what concerns you, and for a link when the password is forgotten. Empty means no mail."
        ),
    )


class Enrol(Proof):
    """The first code of a new app."""

    field_order = ("code", "password")
    code = forms.CharField(label=_("The code that the app shows now"), widget=CodeInput)


class Tell(forms.Form):
    """When to tell a person through one channel."""

    often = forms.ChoiceField(
        label=_("Tell me"),
        choices=[
            (Often.NEVER, _("never")),
            (Often.IMMEDIATE, _("as it comes")),
            (Often.DIGEST, _("once a day")),
        ],
    )
    hour = forms.TypedChoiceField(
        label=_("Once a day means at"), coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)]
    )
    zone = forms.CharField(
        label=_("Time zone"),
        max_length=64,
        help_text=_("Such as Europe/Istanbul or UTC."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_zone(self) -> str:
        zone = str(self.cleaned_data["zone"])
        if zone not in available_timezones():
            raise forms.ValidationError(_("No time zone has this name."))
        return zone


class ChooseLanguage(forms.Form):
    """What the pages are written in."""

    language = forms.ChoiceField(label=_("Language"), choices=Language.choices)


class ChooseKeys(forms.Form):
    """Whether the pages answer to single keys: a box that is not ticked sends nothing."""

    keys = forms.BooleanField(label=_("Keys work on these pages"), required=False)


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
    """Where an agent or a person wants to be told. What may be an address is for the service to say."""

    url = forms.CharField(label=_("Address"), max_length=2048)


class InRole(InWorkspace):
    """A role, the groups it counts for, and until when."""

    groups = forms.CharField(
        label=_("Groups"),
        required=False,
        help_text=_("As the policy names them, separated by commas. A policy rule can ask for one of them."),
    )
    until = forms.DateTimeField(
        label=_("Until"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("UTC. From that moment on it counts for nothing. Empty: until it is revoked."),
    )

    def clean_groups(self) -> list[str]:
        names = str(self.cleaned_data["groups"]).split(",")
        return [name.strip() for name in names if name.strip()]


class Invite(InRole):
    """A new person with an account and roles."""

    field_order = ("workspace", "name", "username", "email", "roles", "groups", "until")
    name = forms.CharField(label=_("Name"), max_length=150)
    username = forms.CharField(label=_("Account name"), max_length=150)
    email = forms.EmailField(
        label=_("Mail address"), required=False, help_text=_("Not needed. The link is mailed there too.")
    )
    roles = forms.MultipleChoiceField(
        label=_("Roles"), choices=ROLES, widget=forms.CheckboxSelectMultiple, initial=[Role.REVIEWER]
    )


class Grant(InRole):
    """A role for somebody who has an account already."""

    field_order = ("workspace", "username", "role", "groups", "until")
    username = forms.CharField(label=_("Account name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=ROLES)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, auto_id="grant_%s", **kwargs
        )  # it stands beside Invite, whose fields it shares


class AccountName(forms.Form):
    """An account, by its name."""

    username = forms.CharField(label=_("Account name"), max_length=150)
