"""What ninja leaves to mend under /api/: HEAD answers as GET does, and a wrong method is a problem document."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from huqan_site import errors
from huqan_site.lib.problems import Refusal


class MethodNotAllowed(Refusal):
    code, status, title = "method_not_allowed", 405, "Method not allowed"
    detail = "This address does not take that method. The Allow header names those that it takes."


class ApiMiddleware:
    """Wraps every request under /api/."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(errors.API):
            return self.get_response(request)
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]  # no cookie counts here
        if request.method == "HEAD":
            return self._head(request)
        answer = self.get_response(request)
        return self._not_allowed(request, answer) if answer.status_code == MethodNotAllowed.status else answer

    def _head(self, request: HttpRequest) -> HttpResponseBase:
        request.method = "GET"
        answer = self(request)
        if isinstance(answer, HttpResponse):
            answer.headers["Content-Length"] = str(len(answer.content))
            answer.content = b""
        return answer

    def _not_allowed(self, request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
        problem = errors.refused(request, MethodNotAllowed())
        allowed = {method.strip() for method in answer.get("Allow", "").split(",")} - {""}
        problem["Allow"] = ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))
        return problem
