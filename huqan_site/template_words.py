"""Templates are compiled once for each language, with their words already in it.

A page has sixty constant texts. Looking each up again for every reader took a tenth of drawing it.
"""

from __future__ import annotations

from django import template
from django.template import Context
from django.template.base import Node, Origin, Parser, TextNode, Token
from django.template.loaders import cached
from django.templatetags import i18n
from django.templatetags.i18n import TranslateNode, do_translate
from django.utils.translation import get_language

register = template.Library()
"""Stands in for Django's `i18n`: the same tags, but for a constant text of `{% translate %}`."""
register.tags.update(i18n.register.tags)
register.filters.update(i18n.register.filters)


class Loader(cached.Loader):
    """Keeps what it compiled by language, since what `translate` said then stands in it."""

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        return f"{get_language()}:{super().cache_key(template_name, skip)}"


@register.tag
def translate(parser: Parser, token: Token) -> Node:
    node: TranslateNode = do_translate(parser, token)
    text = node.filter_expression
    is_constant = text.var.literal is not None and not (text.filters or node.message_context or node.asvar)
    return TextNode(node.render(Context())) if is_constant else node
