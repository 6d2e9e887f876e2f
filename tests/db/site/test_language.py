"""English and Turkish are complete: every text is marked, translated, and shown in the language of the reader."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from io import BytesIO

import pytest
from django.core.cache import cache
from django.utils import translation

from huqan_site.lib.catalogue import Message, compiled, read
from review.access.models import User
from review.access.wording import TOLD, said
from tests.support.inventory import Town, rows, undone
from tests.support.language import HEADER, MO, PO, kept
from tests.support.reading import texts
from tests.support.strings import ROOT, messages

HOW = "Run ./run words and translate what it lists."
PLACE = re.compile(r"%\(\w+\)[sd]")
VISITORS = ("manager", "owner", "reviewer", "nobody")

SHOWN_IN_ENGLISH = {
    "help/<slug:slug>/",
    "help/<slug:slug>/permit_verifier.py",
    "api/v1/docs",
    "help/components/",
}
"""Guides that say that they are in English, what programs read, and the sheet of components with its examples."""


def catalogue() -> dict[tuple[str, str], Message]:
    return {message.key: message for message in kept()}


def translated() -> list[Message]:
    return [message for message in kept() if message.is_translated and not message.is_fuzzy]


def test_every_text_of_the_source_is_translated() -> None:
    known = catalogue()
    missing = [
        message.id
        for message in messages()
        if (found := known.get(message.key)) is None or not found.is_translated or found.is_fuzzy
    ]
    assert not missing, HOW


def test_nothing_is_translated_that_the_source_does_not_say() -> None:
    assert not catalogue().keys() - {message.key for message in messages()}, HOW


def test_the_texts_of_pages_domain_and_plurals_are_found() -> None:
    """The positive control of the two above: each kind of marking is seen at all."""
    found = {message.id: message for message in messages()}
    assert found["%(count)d day"].plural == "%(count)d days"
    assert {
        "Skip to the page",
        "Not signed in: name and password do not fit, or the account is disabled.",
    } <= set(found)
    for told in (
        "You own %(agent)s.",
        "Role too new",
        "Mail %(to)s",
        "Met",
        "%(reason)s Someone else must approve.",
    ):
        assert TOLD in found[told].marks
    assert "Next page" in found


def test_a_translation_has_the_places_of_its_text() -> None:
    """What is asked for is filled in: never another name, and none left out where pages fill it in themselves."""
    for message in translated():
        places = set(PLACE.findall(message.id)) | set(PLACE.findall(message.plural))
        for text in message.translations:
            named = set(PLACE.findall(text))
            assert named <= places, message.id
            assert TOLD in message.marks or named == places or message.plural, message.id
            assert re.sub(r"%%|%\(\w+\)[sd]", "", text).count("%") == plain_percents(message), message.id


def plain_percents(message: Message) -> int:
    return re.sub(r"%%|%\(\w+\)[sd]", "", message.id).count("%")


def test_a_translation_ends_as_its_text_does() -> None:
    for message in translated():
        for text in message.translations:
            assert (text[0].isspace(), text[-1].isspace()) == (
                message.id[0].isspace(),
                message.id[-1].isspace(),
            )
            assert text.endswith(".") == message.id.endswith("."), message.id


def test_the_compiled_catalogue_is_that_of_the_texts() -> None:
    assert MO.read_bytes() == compiled(read(PO.read_text(encoding="utf-8"))), HOW
    assert read(PO.read_text(encoding="utf-8"))[0].translations == HEADER.translations


def test_the_compiled_catalogue_is_one_that_every_program_reads() -> None:
    turkish = gettext.GNUTranslations(BytesIO(MO.read_bytes()))
    assert turkish.gettext("Queue") == "Kuyruk"
    assert turkish.ngettext("%(count)d day", "%(count)d days", 3) == "%(count)d gün"
    assert turkish.ngettext("once", "%(n)s times", 1) != turkish.ngettext("once", "%(n)s times", 2)


def test_a_sentence_of_the_domain_is_turkish_on_a_page_and_english_for_programs() -> None:
    english = "You own scout. Someone else must approve."
    assert said(english) == english
    with translation.override("tr"):
        assert said(english) == "scout ajanının sahibisiniz. Başka biri onaylamalı."
        assert said("Mail a@b.example: “Hi”") == "E-posta, a@b.example: “Hi”"


def test_dotted_and_dotless_i_are_the_right_ones() -> None:
    """A Turkish page says its language, so that casing makes İ of i; and no text has what wrong casing leaves."""
    assert not [
        text for message in translated() for text in message.translations if "i̇" in text or "I\u0307" in text
    ]
    assert "text-transform" not in (ROOT / "huqan_site/static/huqan.css").read_text()


# --- Templates: every text that a reader sees is marked ------------------------------------------------

TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.DOTALL)
COMMENT = re.compile(r"\{% comment %\}.*?\{% endcomment %\}", re.DOTALL)
CLASS = re.compile(r"\{% block page_class %\}.*?\{% endblock %\}", re.DOTALL)
MARKED = re.compile(r"\{% blocktranslate.*?%\}.*?\{% endblocktranslate %\}", re.DOTALL)
NAMES = {
    "Huqan",
    "JSON",
    "UTC",
    "Esc",
    "English",
    "Türkçe",
    "CSV",
    "JSON Pointer",
    "SHA-256",
    "hqn_",
}
EXAMPLES = {"help/components.html", "help/component_states.html"}


def unmarked(template: str) -> Iterator[str]:
    plain = TAG.sub("\u2042", MARKED.sub("\u2042", CLASS.sub("", COMMENT.sub("", template))))
    for text in texts(f"<html>{plain}</html>"):
        for part in text.split("\u2042"):
            if re.search(r"[^\W\d_]{2}", part) and part.strip(" .,:;()“”·") not in NAMES:
                yield part.strip()


def test_no_template_has_a_text_that_is_not_marked() -> None:
    folder = ROOT / "templates"
    found = {
        str(path.relative_to(folder)): left
        for path in sorted(folder.rglob("*.html"))
        if str(path.relative_to(folder)) not in EXAMPLES and (left := list(unmarked(path.read_text())))
    }
    assert not found


@pytest.mark.parametrize(
    "template",
    [
        "<p>Nobody marked this.</p>",
        "<p>{{ name }} is waiting</p>",
        '<input placeholder="Search here">',
        "{% if x %}<b>{% translate 'Yes' %} or no</b>{% endif %}",
    ],
)
def test_a_text_that_is_not_marked_is_found(template: str) -> None:
    assert list(unmarked(template))


# --- Pages: nothing is left in English -----------------------------------------------------------------


@pytest.fixture
def town(db: None) -> Town:
    cache.clear()
    town = Town()
    User.objects.update(language="tr")
    return town


def pages(town: Town) -> Iterator[tuple[str, str]]:
    """Every page and every refusal of a page, as each visitor gets it, with where it was seen."""
    for row in rows():
        for visitor in VISITORS if not row.is_api and row.route not in SHOWN_IN_ENGLISH else ():
            with undone():
                answer = town.pages[visitor](row.method, town.address(row))
                if (
                    not answer.streaming
                    and "html" in answer.headers.get("Content-Type", "")
                    and answer.content
                ):
                    yield f"{row.method} {row.route} as {visitor}", answer.content.decode()


def english() -> tuple[set[str], list[re.Pattern[str]]]:
    """The texts that a Turkish page must not have: whole, or as part of a longer one."""
    differing = [message for message in translated() if message.id not in message.translations]
    spoken = [one for message in differing for one in (message.id, message.plural) if one]
    turkish = {text for message in translated() for text in message.translations}
    whole = {text.strip() for text in spoken if not PLACE.search(text)} - turkish
    long = [text for text in spoken if len(re.findall(r"[a-z]{2,}", PLACE.sub("", text))) >= 3]
    return whole, [re.compile(".+?".join(map(re.escape, PLACE.split(text)))) for text in long]


ENGLISH = re.compile(r"\b(?:the|is|are|of|and|to|with|this|that|you|was|from|nobody)\b", re.IGNORECASE)
REMEMBERED = re.compile(r"The staging port is \d+|staging port, is")
"""What the town's agents said, which stays as it was said."""


@pytest.mark.slow
def test_a_turkish_page_has_no_text_of_the_english_catalogue(town: Town) -> None:
    whole, parts = english()
    left: dict[str, str] = {}
    seen: set[str] = set()
    for place, html in pages(town):
        if '<html lang="en"' in html:  # who is not signed in is answered in the browser's language
            continue
        for text in set(texts(html)) - seen:
            seen.add(text)
            unmarked = ENGLISH.search(REMEMBERED.sub("", text))
            if unmarked or text in whole or any(part.search(text) for part in parts):
                left[text] = place
    assert len(seen) > 500
    assert not left
