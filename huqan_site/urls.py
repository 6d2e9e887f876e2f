"""Every address of the console, composed from its apps."""

from __future__ import annotations

from allauth.account import views as allauth
from allauth.mfa.base import views as second_factor
from django.urls import include, path

from huqan_site import health, published
from huqan_site import help as help_pages
from huqan_site.api import api

handler400 = "huqan_site.errors.bad_request"
handler403 = "huqan_site.errors.forbidden"
handler404 = "huqan_site.errors.not_found"
handler429 = "huqan_site.errors.too_many_sign_ins"
handler500 = "huqan_site.errors.server_error"

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    # Signing in and out is all that is taken of allauth: no sign-up, no mail, no codes by mail.
    path("accounts/login/", allauth.login, name="account_login"),
    path("accounts/login/code/", second_factor.authenticate, name="mfa_authenticate"),
    path("accounts/logout/", allauth.logout, name="account_logout"),
    path("metrics", published.metrics, name="metrics"),
    path(".well-known/huqan-keys.json", published.keys, name="keys"),
    path("api/v1/docs", published.api_page, name="api_docs"),
    path("api/v1/", api.urls),
    path("help/", help_pages.index, name="help"),
    path("help/components/", help_pages.components, name="components"),
    path("help/problems/<slug:code>/", help_pages.problem, name="problem"),
    path(
        "help/<slug:slug>/permit_verifier.py", help_pages.verifier, {"of": "permit"}, name="permit_verifier"
    ),
    path("help/<slug:slug>/log_verifier.py", help_pages.verifier, {"of": "log"}, name="log_verifier"),
    path("help/<slug:slug>/", help_pages.page, name="help_page"),
    path("", include("review.access.urls")),
    path("", include("review.urls")),
    path("", include("memory.urls")),
]
