"""The shape of every refusal: a code for programs, a status, and a sentence for people.

A refusal is raised where the rule is, and said once: the API writes it as problem+json
(RFC 9457), a page writes the same sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple


class FieldError(NamedTuple):
    """One wrong field: where (JSON Pointer, RFC 6901), which code, and what to do."""

    pointer: str
    code: str
    detail: str


class Refusal(Exception):
    """Something the product will not do, and why.

    `detail` is the sentence a reader sees: why, and what to do next. A subclass with only one
    sentence states it; another is given one when raised. It never carries exception text.
    `extra` holds further members of the problem document, such as the id of what stood in the way.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    detail: str = ""
    extra: dict[str, Any]
    errors: list[FieldError]

    def __init__(self, detail: str | None = None, *, errors: Iterable[FieldError] = (), **extra: Any) -> None:
        if detail is not None:
            self.detail = detail
        self.errors = list(errors)
        self.extra = extra
        super().__init__(self.detail)
