"""Reading a request's body strictly: one meaning or none, limits before shape (design: Reader)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, UnreadablePostError
from django.utils.datastructures import MultiValueDict
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

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Return the parameters, each sent once. Raises: Invalid."""
        errors = [error for name, values in data.lists() for error in _parameter_errors(name, values)]
        if errors:
            raise Invalid(errors=errors)
        return dict(data.items())


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
        raise Invalid(errors=[FieldError(pointer(name), "unknown", sentence) for name in unknown])


def _parameter_errors(name: str, values: list[Any]) -> Iterator[FieldError]:
    """The reader's rules for a body, for a query: one meaning, and no U+0000, which no database takes."""
    if len(values) > 1:
        yield FieldError(pointer(name), "duplicate_key", "This parameter is there twice. Send it once.")
    if any("\0" in text for text in (name, *values)):
        yield FieldError(pointer(name), "forbidden_character", "U+0000 is not taken. Take it out.")


def pointer(*steps: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of these steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def body_length(request: HttpRequest) -> int | None:
    """Return how many bytes the body has; None where only its end will tell, as it comes in chunks.

    Raises: strict_json.Malformed where the length is none. Most servers refuse that before us.
    """
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        return None
    said = request.META.get("CONTENT_LENGTH") or "0"
    if not (said.isascii() and said.isdigit()):
        raise strict_json.Malformed
    return int(said)


def _read(request: HttpRequest) -> dict[str, Any]:
    _check_media_type(request)
    length = body_length(request)
    if length is not None and length > strict_json.MAX_BYTES:
        raise strict_json.BodyTooLarge
    if length is None:
        request._body = _chunks(request)
    try:
        return strict_json.read(request.body)
    except RequestDataTooBig as wrong:
        raise strict_json.BodyTooLarge from wrong
    except UnreadablePostError as wrong:
        raise strict_json.Malformed from wrong


def _chunks(request: HttpRequest) -> bytes:
    """Return a body without a length, which Django takes for none, read no further than needed to refuse it."""
    try:
        body: bytes = request.META["wsgi.input"].read(strict_json.MAX_BYTES + 1)
    except Exception as wrong:  # each server has its own errors for chunks that are none
        raise strict_json.Malformed from wrong
    return body


def _check_media_type(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8")
    if request.content_type != "application/json" or charset.casefold() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType
    if request.headers.get("Content-Encoding"):
        raise UnsupportedMediaType
