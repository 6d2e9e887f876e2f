"""What the console publishes to programs: its public keys, its metrics and the page of its API."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from huqan_site.api import api
from huqan_site.lib.keyring import Keyring
from review.audit import queries as audit
from review.queries.measures import measures

PURPOSES = ("permit", "log")


@require_safe
def keys(request: HttpRequest) -> JsonResponse:
    """Every public key that is still good for checking, as a JWK set (RFC 7517, RFC 8037)."""
    keyring = Keyring(settings.HUQAN_KEYS_DIR)
    for purpose in PURPOSES:
        keyring.signing_key(purpose)  # made now if this console has signed nothing yet
    jwks = [
        _jwk(kid, key, purpose) for purpose in PURPOSES for kid, key in keyring.public_keys(purpose).items()
    ]
    return JsonResponse({"keys": jwks}, headers={"Cache-Control": "public, max-age=300"})


def _jwk(kid: str, key: Ed25519PublicKey, purpose: str) -> dict[str, str]:
    x = base64.urlsafe_b64encode(key.public_bytes_raw()).rstrip(b"=").decode()
    return {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": kid, "use": purpose, "x": x}


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Counts for Prometheus, over all workspaces; no name and no content."""
    registry = CollectorRegistry()
    found = measures(timezone.now())
    states = Gauge("huqan_proposals", "Proposals by state.", ["status"], registry=registry)
    for status, count in found.by_status.items():
        states.labels(status).set(count)
    Gauge("huqan_oldest_pending_seconds", "Age of the oldest pending proposal.", registry=registry).set(
        found.oldest_pending
    )
    Gauge("huqan_overdue_proposals", "Proposals whose time is over, not yet swept.", registry=registry).set(
        found.overdue
    )
    Gauge("huqan_log_entries", "Entries of the audit log.", registry=registry).set(audit.size())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


@require_safe
def api_page(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document as a page: no script, nothing from elsewhere."""
    document = api.get_openapi_schema()
    return render(request, "api/docs.html", {"document": document, "calls": list(_calls(document))})


def _calls(document: Mapping[str, Any]) -> Any:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            yield {
                "method": method.upper(),
                "path": path,
                "summary": call.get("summary", ""),
                "description": call.get("description", ""),
                "parameters": call.get("parameters", []),
                "body": _fields(document, _schema(call.get("requestBody", {}))),
                "answers": [_answer(document, status, one) for status, one in call["responses"].items()],
            }


def _schema(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    for medium in holder.get("content", {}).values():  # there is one at most
        schema: Mapping[str, Any] = medium["schema"]
        return schema
    return {}


def _answer(document: Mapping[str, Any], status: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    name = _name(_schema(answer))
    return {"status": status, "description": answer.get("description", ""), "schema": name}


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The members of a request's body: name, type and whether it must be there."""
    refs = [schema, *schema.get("anyOf", [])]
    named = next((_name(one) for one in refs if "$ref" in one), "")
    whole = document["components"]["schemas"].get(named, {})
    required = set(whole.get("required", ()))
    return [
        {"name": name, "type": _type(one), "required": name in required}
        for name, one in whole.get("properties", {}).items()
    ]


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    return str(schema.get("type") or _name(schema) or "any value")
