"""What every answer has in common."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from huqan_site import errors
from huqan_site.lib.problems import Refusal
from review.audit.refusals import Unavailable

FEATURES = ("accelerometer", "camera", "display-capture", "geolocation", "microphone", "payment", "usb")
NO_FEATURES = ", ".join(f"{feature}=()" for feature in FEATURES)


class UnavailableMiddleware:
    """Say 503 and when to come back where the database cannot serve, else the refusal's own sentence.

    Nothing here keeps state: the next request tries again, so writing works again without a restart.
    Every answer that does not say otherwise is kept by no cache, since it shows what one person may see.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # also of a form that keeps what was typed
            response.headers.setdefault("Retry-After", str(Unavailable.retry_after))
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", NO_FEATURES)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer for a view that raised; what a middleware raises ends in `errors.server_error`."""
        if isinstance(error, Refusal):
            return errors.refused(request, error)
        if errors.is_unavailable(error):
            return errors.refused(request, Unavailable())
        return None
