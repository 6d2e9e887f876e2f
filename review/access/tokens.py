"""Bearer tokens of agents: `hqn_<handle>_<secret>`.

The handle finds the row, the secret (192 random bits) proves the right to it. Only the SHA-256 of the
secret is stored: it is random, so a slow hash would add nothing but time. Whatever is wrong with a
token, the same work is done and the same refusal raised, so that neither tells which part was right.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from review.access.actors import AgentActor
from review.access.models import AgentToken
from review.access.queries import has_active_owner
from review.access.refusals import AgentStopped, MissingScope, Unauthorized
from review.access.roles import Scope
from review.audit.statements import first, prepared

PREFIX = "hqn_"
_SHAPE = re.compile(r"(?i:bearer) hqn_([0-9a-f]{12})_([0-9a-f]{48})", re.ASCII)
_NO_DIGEST = hashlib.sha256(b"no token has this digest").hexdigest()


class NewToken(NamedTuple):
    """A token before it is stored: `text` is shown once, `handle` and `digest` are kept."""

    text: str
    handle: str
    digest: str


def new_token() -> NewToken:
    handle, secret = secrets.token_hex(6), secrets.token_hex(24)
    return NewToken(f"{PREFIX}{handle}_{secret}", handle, digest(secret))


def digest(secret: str) -> str:
    """Return the 64 hex digits under which a secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


def authenticate_request(request: HttpRequest) -> AgentActor:
    """Return who sent `request`, from its Authorization header alone. Cookies are not looked at.

    Raises: Unauthorized, also when a token stands in the address, where logs and proxies keep it.
    """
    header = request.META.get("HTTP_AUTHORIZATION")
    values = [] if header is None else [header]
    if PREFIX in request.get_full_path():
        values = []
    return authenticate(values, now=timezone.now())


def authenticate(header_values: Sequence[str], *, now: datetime) -> AgentActor:
    """Return the agent whose token is the one value of `header_values` (`Bearer hqn_…`).

    A server joins doubled headers with a comma; that matches no token either.

    Raises: Unauthorized.
    """
    handle, secret = _parts(header_values)
    token = first(_with_handle(handle))
    known = token.digest if token else _NO_DIGEST
    right = hmac.compare_digest(known, digest(secret))
    if token is None or not right or not _holds(token, now):
        raise Unauthorized
    return AgentActor(agent=token.agent, token=token)


@prepared
def _with_handle(handle: str) -> QuerySet[AgentToken]:
    return AgentToken.objects.select_related("agent__workspace").filter(handle=handle)


def _parts(header_values: Sequence[str]) -> tuple[str, str]:
    match = _SHAPE.fullmatch(header_values[0]) if len(header_values) == 1 else None
    return (match[1], match[2]) if match else ("", "")


def _holds(token: AgentToken, now: datetime) -> bool:
    return token.revoked_at is None and now < token.expires_at


def require_scope(actor: AgentActor, scope: Scope) -> None:
    """Raises: MissingScope, naming the scope."""
    if scope not in actor.token.scopes:
        raise MissingScope(scope=str(scope))


def require_running(actor: AgentActor, *, now: datetime) -> None:
    """For whatever changes something; a stopped agent may still read what became of its proposals.

    Raises: AgentStopped.
    """
    if actor.agent.stopped_at is not None or not has_active_owner(actor.agent.id, now):
        raise AgentStopped
