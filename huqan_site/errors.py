"""What is answered when a page cannot be: a sentence that says why and what to do next, never exception text.

Under `/api/` the same is said as problem+json (RFC 9457), for whatever goes wrong before a view is reached.
"""

from __future__ import annotations

import errno
import sys
from http import HTTPStatus
from typing import ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy

from huqan_site.lib.ids import new_id
from huqan_site.lib.problems import Refusal
from review.audit.refusals import Unavailable
from review.audit.request_context import current_request_id

API = "/api/"
WORDS = {"reason": gettext_lazy("Reason"), "confirm": gettext_lazy("Typed to confirm")}
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


class PageRefusal(Refusal):
    """A refusal of the site itself, with what a reader can do next."""

    advice: ClassVar[str] = ""


class NoSuchPage(PageRefusal):
    code, status, title = "not_found", 404, "Not found"
    detail = "Nothing is at this address for you."
    advice = "Open the queue, or check the address."


class NotYours(PageRefusal):
    code, status, title = "forbidden", 403, "Not for you"
    detail = "Your role does not open this page."
    advice = "A manager of the workspace grants roles. No account is above them."


class StaleForm(PageRefusal):
    code, status, title = "stale_form", 403, "Not recorded: the form is from another sign-in"
    detail = "This form was made before you signed in or out, perhaps in another tab. Nothing was recorded."
    advice = "Open the page again and send it from there."


class BadRequest(PageRefusal):
    code, status, title = "bad_request", 400, "Not a request that can be read"
    detail = "The request was not well formed, or was sent to a host name that this console does not have."
    advice = "Open the queue at the address that the operator gave you."


class TooManySignIns(PageRefusal):
    code, status, title = "rate_limited", 429, "Too many sign-ins"
    detail = "Too many sign-ins were tried from this address in the last minute. Nobody was signed in."
    advice = "Wait a minute and try again."


class Broken(PageRefusal):
    code, status, title = "internal_error", 500, "The console failed"
    detail = "Something went wrong on our side. What was not answered was not recorded."
    advice = "Tell the operator the request number; the server's own log explains it."


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Answer with a refusal: problem+json to programs, a page to people."""
    answer = _problem(request, refusal) if request.path.startswith(API) else _page(request, refusal)
    retry_after = getattr(refusal, "retry_after", None)
    if retry_after is not None:
        answer["Retry-After"] = str(retry_after)
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        answer["WWW-Authenticate"] = "Bearer"
    return answer


def is_unavailable(error: BaseException | None) -> bool:
    """Whether `error` says that the database or its disk cannot serve now, and may again later."""
    if isinstance(error, OSError):
        return error.errno in _DISK
    if isinstance(error, InternalError):  # PostgreSQL says so when it is read-only
        return "read-only" in str(error)
    return isinstance(error, OperationalError | InterfaceError)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refused(request, BadRequest())


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refused(request, NotYours())


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refused(request, NoSuchPage())


def too_many_sign_ins(request: HttpRequest) -> HttpResponse:
    """Also where no sign-in can be counted: then it is not too many of them, and waiting a minute is no advice."""
    can_count = cache.add(f"can-count-{new_id()}", True, timeout=1)
    return refused(request, TooManySignIns() if can_count else Unavailable())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return refused(request, StaleForm())


def server_error(request: HttpRequest) -> HttpResponse:
    """The last net, also for what fails in a middleware, such as saving a session to a full disk."""
    unavailable = is_unavailable(sys.exc_info()[1])
    return refused(request, Unavailable() if unavailable else Broken())


def _page(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """The page, without the request's own context where the database may be what failed."""
    said = {
        "refusal": refusal,
        "request_id": current_request_id(),
        "sign_in": _sign_in(request),
        "typed": _typed(request),
    }
    own_context = request if refusal.status < 500 else None
    text = render_to_string("errors/refusal.html", said, request=own_context)
    return HttpResponse(text, status=refusal.status)


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    """What the person wrote into the form and should not lose. Passwords and digests are none of it."""
    try:
        sent = request.POST
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        return []  # nobody's form: it may be read here first, where no view was reached
    return [(str(label), sent.get(name, "")) for name, label in WORDS.items()] if sent else []


def _sign_in(request: HttpRequest) -> str:
    """Where to sign in and come back to the page that the form was sent from; only its path, so one of ours."""
    try:
        sent_from = urlsplit(request.headers.get("Referer", "")).path
    except ValueError:
        sent_from = ""
    return f"{reverse('account_login')}?{urlencode({'next': sent_from or '/'})}"


def _problem(request: HttpRequest, refusal: Refusal) -> JsonResponse:
    body = {
        **refusal.extra,  # first, so that no fact of a refusal stands in for a member of RFC 9457
        "type": f"{settings.HUQAN_BASE_URL}/help/problems/{refusal.code}/",
        "title": refusal.title,
        "status": refusal.status,
        "code": refusal.code,
        "detail": refusal.detail,
        "request_id": current_request_id(),
    }
    if refusal.errors:
        body["errors"] = [error._asdict() for error in refusal.errors]
    return JsonResponse(body, status=refusal.status, content_type="application/problem+json")
