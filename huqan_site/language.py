"""In which language a request is answered: people's pages in theirs, programs always in English."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from huqan_site import errors
from review.access.models import User


class LanguageMiddleware:
    """The account's language, else what was chosen in this browser, else what the browser asks for.

    What programs read (codes, `title`, `detail`) stays English, whatever Accept-Language says: it is compared,
    logged and looked up.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        by_program = request.path.startswith(errors.API)
        language = settings.LANGUAGE_CODE if by_program else _asked_for(request)
        with translation.override(language):
            request.LANGUAGE_CODE = translation.get_language()
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        if not by_program:
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response


def _asked_for(request: HttpRequest) -> str:
    return _kept_with_account(request) or translation.get_language_from_request(request)


def _kept_with_account(request: HttpRequest) -> str:
    """Where the database does not answer, the page that says so is in the browser's language."""
    try:
        return request.user.language if isinstance(request.user, User) else ""
    except DatabaseError:
        return ""
