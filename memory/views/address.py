"""Addresses of the memory pages with what they ask for, and texts read from one."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

LONGEST = 200  # characters of a filter


def asked(request: HttpRequest, name: str, longest: int = LONGEST) -> str:
    """Return what the address says under `name`; the database cannot keep U+0000, so it cannot be asked for."""
    return request.GET.get(name, "").replace("\0", "")[:longest].strip()


def address(name: str, asks: Mapping[str, str | None]) -> str:
    """Return the address of the page `name` that asks for whatever in `asks` is not empty."""
    query = urlencode({key: value for key, value in asks.items() if value})
    return f"{reverse(name)}?{query}" if query else reverse(name)


def any_of(values: list[str], label: str) -> list[tuple[str, str]]:
    """Return the options of a filter: `label` for all of them, then each."""
    return [("", label), *((value, value) for value in values)]
