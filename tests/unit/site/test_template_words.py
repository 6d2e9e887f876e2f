"""A template says its constant words in the language of its reader, whoever asked for it first."""

from __future__ import annotations

import pytest
from django.template import engines
from django.template.base import TextNode
from django.template.loader import get_template
from django.utils import translation

PLACE = "components/key_list.html"


def compiled(text: str) -> list[object]:
    return list(engines["django"].from_string("{% load i18n %}" + text).template.nodelist)[1:]


def test_each_language_has_its_own_words_whichever_came_first() -> None:
    for language, word in (("tr", "ham baytlar"), ("en", "raw bytes"), ("tr", "ham baytlar")):
        with translation.override(language):
            assert word in get_template(PLACE).render()


def test_a_constant_text_is_looked_up_once() -> None:
    with translation.override("tr"):
        [said] = compiled('{% translate "raw bytes" %}')
    assert isinstance(said, TextNode) and said.s == "ham baytlar"


@pytest.mark.parametrize(
    "text",
    ["{% translate word %}", '{% translate "raw bytes" as word %}', '{% translate "raw bytes"|title %}'],
)
def test_what_depends_on_the_page_is_looked_up_there(text: str) -> None:
    assert not isinstance(compiled(text)[0], TextNode)


def test_what_a_page_gives_is_escaped_as_ever() -> None:
    shown = engines["django"].from_string("{% load i18n %}{% translate word %}").render({"word": "<b>"})
    assert shown == "&lt;b&gt;"
