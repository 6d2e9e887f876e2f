"""Which request an entry belongs to, without passing it through every function."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

from huqan_site.lib.ids import new_id

_request_id: ContextVar[str | None] = ContextVar("huqan_request_id", default=None)


def current_request_id() -> str | None:
    """The id of the request being answered; None in a command or a worker."""
    return _request_id.get()


class RequestContextMiddleware:
    """Give each request a fresh id of ours; what a client sends as one is not believed.

    The answer carries it as `X-Request-Id`, and so does every entry and problem document.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = _request_id.set(str(new_id()))
        try:
            response = self.get_response(request)
            response["X-Request-Id"] = _request_id.get() or ""
            return response
        finally:
            _request_id.reset(token)
