"""The agents' door: a bearer token and nothing else. Cookies are not looked at."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from review.access import tokens
from review.access.actors import AgentActor
from review.access.limits import count_request
from review.access.roles import Scope
from review.api.reading import body_length, read_body


class Token(HttpBearer):
    """Let in an agent whose token has `scope`. Order: who, how often, what for; only then the body.

    `writes` refuses a stopped agent at the door; the services ask again inside their transaction.
    `bodiless` takes a POST without a body for one without members.
    """

    openapi_name = "token"

    def __init__(self, scope: Scope | None = None, *, writes: bool = False, bodiless: bool = False) -> None:
        self.scope, self.writes, self.bodiless = scope, writes, bodiless
        super().__init__()

    def __call__(self, request: HttpRequest) -> AgentActor:
        now = timezone.now()
        actor = tokens.authenticate_request(request)
        count_request(actor.token, now=now)
        if self.scope is not None:
            tokens.require_scope(actor, self.scope)
        if self.writes:
            tokens.require_running(actor, now=now)
        if request.method == "POST" and not (self.bodiless and body_length(request) == 0):
            read_body(request)
        return actor

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        raise AssertionError("__call__ does all of it")


def actor_of(request: HttpRequest) -> AgentActor:
    """Return the agent that `Token` let in."""
    actor: AgentActor = request.auth  # type: ignore[attr-defined]
    return actor
