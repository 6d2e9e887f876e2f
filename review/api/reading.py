"""Reading a request's body strictly: one meaning or none, limits before shape (design: Reader)."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from ninja.parser import Parser
from pydantic import BaseModel

from huqan_site.lib import strict_json
from huqan_site.lib.problems import FieldError, Refusal
from review.domain.refusals import Invalid


class UnsupportedMediaType(Refusal):
    code, status, title = "unsupported_media_type", 415, "Not JSON"
    detail = "Send the body as application/json in UTF-8, without a Content-Encoding."


class StrictParser(Parser):
    """ninja's door to the strict reader, for bodies and for the query."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        return read_body(request)


def read_body(request: HttpRequest) -> dict[str, Any]:
    """Return the members of the body; read once a request.

    Raises: UnsupportedMediaType, strict_json.Unreadable with the reason's code.
    """
    if not hasattr(request, "_huqan_body"):
        request._huqan_body = _read(request)  # type: ignore[attr-defined]
    return request._huqan_body  # type: ignore[attr-defined,no-any-return]


def refuse_unknown(request: HttpRequest, schema: type[BaseModel]) -> None:
    """Refuse a query with a parameter that `schema` does not name; ninja passes over those.

    Raises: Invalid.
    """
    unknown = sorted(set(request.GET) - set(schema.model_fields))
    if unknown:
        sentence = "There is no such parameter. Leave it out."
        raise Invalid(errors=[FieldError(f"/{name}", "unknown", sentence) for name in unknown])


def _read(request: HttpRequest) -> dict[str, Any]:
    _check_media_type(request)
    if int(request.META.get("CONTENT_LENGTH") or 0) > strict_json.MAX_BYTES:
        raise strict_json.BodyTooLarge
    try:
        body = request.body
    except (RequestDataTooBig, UnreadablePostError) as wrong:
        raise strict_json.BodyTooLarge from wrong
    return strict_json.read(body)


def _check_media_type(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8")
    if request.content_type != "application/json" or charset.casefold() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType
    if request.headers.get("Content-Encoding"):
        raise UnsupportedMediaType
