"""What the domain says, in the language of the page. Programs, the database and the log keep the English."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import translation

from huqan_site.lib.catalogue import read
from huqan_site.lib.retelling import Retelling

if TYPE_CHECKING:
    from review.access.models import User

TOLD = "told by the domain"
"""The mark that such texts have in the catalogue."""

WITHIN = (
    "codes", "could", "counted", "join", "kind", "listed", "people", "places", "reason", "role", "sentence", "sized",
    "still", "there", "whom", "WORDS",
)  # fmt: skip
"""Places in which words of ours stand, not a name or a value."""


def said(text: str) -> str:
    """Return a sentence or word of the domain as this page says it.

    For what the console says only: what people and agents wrote is shown as it is.
    """
    language = translation.get_language() or settings.LANGUAGE_CODE
    return text if language == settings.LANGUAGE_CODE else _retelling(language).of(str(text))


def language_of(user: User) -> AbstractContextManager[None]:
    """Have what is written for `user` inside the block in the language of the account."""
    return translation.override(user.language or settings.LANGUAGE_CODE)


@cache
def _retelling(language: str) -> Retelling:
    path = Path(settings.LOCALE_PATHS[0], language, "LC_MESSAGES", "django.po")
    messages = read(path.read_text(encoding="utf-8")) if path.exists() else []
    known = ((one.id, one.translations[0]) for one in messages if TOLD in one.marks and one.is_translated)
    return Retelling(known, WITHIN)
