"""The agents' API, composed: routes of review and memory, one strict reader, one shape for every refusal."""

from __future__ import annotations

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from huqan_site import __version__, errors
from huqan_site.lib.problems import FieldError, Refusal
from memory.api.routes import router as memory
from review.access.refusals import Unauthorized
from review.api.documented import complete
from review.api.reading import StrictParser, pointer
from review.api.routes import router as proposals
from review.audit.refusals import Unavailable
from review.domain.refusals import Invalid

logger = logging.getLogger(__name__)


class AgentsApi(NinjaAPI):
    """ninja, with a document that says all that these calls take and answer."""

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**where)
        complete(document)
        return document


api = AgentsApi(
    title="Huqan review console",
    version=__version__,
    description="Agents propose; people decide; what was approved runs once, on exactly the reviewed bytes.",
    openapi_url="/openapi.json",
    docs_url=None,
    docs_decorator=require_safe,
    parser=StrictParser(),
    urls_namespace="api",
)
api.add_router("", proposals)
api.add_router("/memory", memory)

SENTENCES = {
    "missing": ("required", "This member is required."),
    "extra_forbidden": ("unknown", "There is no such member. Leave it out."),
    "string_type": ("type", "Send a string."),
    "int_type": ("type", "Send a whole number."),
    "int_parsing": ("type", "Send a whole number."),
    "bool_type": ("type", "Send true or false."),
    "float_type": ("type", "Send a number."),
    "dict_type": ("type", "Send an object."),
    "model_type": ("type", "Send an object."),
    "model_attributes_type": ("type", "Send an object."),
    "list_type": ("type", "Send an array."),
    "string_too_short": ("length", "This is too short."),
    "string_too_long": ("length", "This is too long."),
    "too_long": ("length", "This has too many items."),
    "string_pattern_mismatch": ("format", "This is not of the form that is asked for."),
    "greater_than_equal": ("range", "This number is too small."),
    "less_than_equal": ("range", "This number is too large."),
    "enum": ("choice", "This is not one of the values that are taken."),
    "literal_error": ("choice", "This is not one of the values that are taken."),
}
OTHERWISE = ("invalid", "This is not as it must be. The API page says what is taken.")


@api.exception_handler(Refusal)
def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    return errors.refused(request, refusal)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return errors.refused(request, Invalid(errors=[_field_error(one) for one in error.errors]))


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """ninja hides what its parser raised behind an error of its own."""
    cause = error.__cause__
    return errors.refused(request, cause if isinstance(cause, Refusal) else errors.BadRequest())


@api.exception_handler(AuthenticationError)
def unauthorised(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return errors.refused(request, Unauthorized())


@api.exception_handler(Exception)
def failed(request: HttpRequest, error: Exception) -> HttpResponse:
    if errors.is_unavailable(error):
        return errors.refused(request, Unavailable())
    logger.exception("%s %s failed", request.method, request.path)
    return errors.refused(request, errors.Broken())


def _field_error(error: dict[str, Any]) -> FieldError:
    """Say where and what, never what was sent: it may be a secret."""
    code, sentence = SENTENCES.get(error["type"], OTHERWISE)
    return FieldError(_pointer(error["loc"]), code, sentence)


def _pointer(place: tuple[str | int, ...]) -> str:
    """A JSON Pointer into the body; for a query, to its parameter."""
    return pointer(*(place[2:] if place[0] == "body" else place[1:]))
