"""Addresses of the pages of setting up."""

from __future__ import annotations

from django.urls import path

from review.access.views import account, factors, forgotten, people, person, preferences

urlpatterns = [
    path("set-up/<str:secret>/", account.set_up, name="set_up"),
    path("account/", account.account, name="account"),
    path("account/password/", account.password, name="account_change_password"),
    path("account/address/", account.address, name="account_address"),
    path("account/keys/", preferences.keys, name="account_keys"),
    path("language/", preferences.language, name="language"),
    path("account/second-factor/", factors.second_factor, name="second_factor"),
    path("account/second-factor/enrol/", factors.enrol, name="second_factor_enrol"),
    path("account/second-factor/codes/", factors.renew, name="second_factor_renew"),
    path("account/second-factor/remove/", factors.remove, name="second_factor_remove"),
    path("accounts/forgotten/", forgotten.forgotten, name="forgotten"),
    path("account/delegations/", account.delegate, name="account_delegate"),
    path("account/delegations/<int:delegation>/revoke/", account.undelegate, name="account_undelegate"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="people_invite"),
    path("people/grant/", people.grant, name="people_grant"),
    path("people/<uuid:person>/", person.person, name="person"),
    path("people/<uuid:person>/disable/", person.disable, name="person_disable"),
    path("people/<uuid:person>/link/", person.link, name="person_link"),
    path("people/<uuid:person>/accounts/", person.add_account, name="person_add_account"),
    path("people/<uuid:person>/accounts/<str:username>/reset/", person.reset, name="person_reset"),
    path("people/roles/<uuid:membership>/revoke/", people.revoke, name="membership_revoke"),
]
