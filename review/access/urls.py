"""Addresses of the pages of setting up."""

from __future__ import annotations

from django.urls import path

from review.access.views import account, people

urlpatterns = [
    path("set-up/<str:secret>/", account.set_up, name="set_up"),
    path("account/", account.account, name="account"),
    path("account/password/", account.password, name="account_change_password"),
    path("account/delegations/", account.delegate, name="account_delegate"),
    path("account/delegations/<int:delegation>/revoke/", account.undelegate, name="account_undelegate"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="people_invite"),
    path("people/grant/", people.grant, name="people_grant"),
    path("people/roles/<uuid:membership>/revoke/", people.revoke, name="membership_revoke"),
]
