"""Help: the pages of docs/, the page behind each problem `type`, and the sheet of components."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt

from huqan_site import component_sheet
from huqan_site.lib.problems import Refusal

CONTRACT = "review.domain.refusals"
DOCS = Path(settings.BASE_DIR) / "docs"
FIRST = ("review", "agents", "manage", "operate")


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    pages = [
        {
            "url": reverse("help_page", args=[path.stem]),
            "title": _(title),
            "sentence": _(sentence) if sentence else "",
        }
        for path, title, sentence in guides()
    ]
    return render(request, "help/index.html", {"pages": pages, "api_url": reverse("api_docs")})


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    found = next((path for path, _title, _sentence in guides() if path.stem == slug), None)
    if found is None:
        raise Http404
    path = _in_language(found)
    shown = {
        "title": _heading(path)[0],
        "html": _rendered(path.read_text(encoding="utf-8")),
        "foreign": path == found and get_language() != settings.LANGUAGE_CODE,
    }
    return render(
        request, "help/page.html", {"page": shown, "back": {"url": reverse("help"), "label": _("Help")}}
    )


@require_safe
def verifier(request: HttpRequest, slug: str, of: str) -> HttpResponse:
    """The file that an executor or an auditor copies, where the pages of docs/ link to it."""
    return HttpResponse((DOCS / f"{of}_verifier.py").read_text(encoding="utf-8"), "text/plain; charset=utf-8")


@require_safe
def problem(request: HttpRequest, code: str) -> HttpResponse:
    """The page that a problem document's `type` leads to."""
    problems = catalogue()
    if code not in problems:
        raise Http404
    others = [{**one, "url": reverse("problem", args=[name])} for name, one in sorted(problems.items())]
    return render(request, "help/problem.html", {"problem": problems[code], "others": others})


@require_safe
def components(request: HttpRequest) -> HttpResponse:
    return render(request, "help/components.html", component_sheet.samples())


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Return every refusal of the product by its code: status, title, why and what to do next.

    Where others say more under the same code, the page tells what holds for all of them: that of the contract.
    """
    kinds = sorted(_descendants(Refusal), key=lambda kind: (kind.__module__ == CONTRACT, kind.__qualname__))
    return {kind.code: _described(kind) for kind in kinds if hasattr(kind, "code")}


def _descendants(kind: type[Refusal]) -> set[type[Refusal]]:
    return set(kind.__subclasses__()).union(*(_descendants(one) for one in kind.__subclasses__()))


def _described(kind: type[Refusal]) -> dict[str, Any]:
    return {
        "code": kind.code,
        "status": kind.status,
        "title": kind.title,
        "why": kind.detail,
        "next": getattr(kind, "advice", ""),
    }


def guides() -> list[tuple[Path, str, str]]:
    """Return each page of docs/ with its English title and first sentence: those of the users first."""
    pages = [path for path in DOCS.glob("*.md") if "." not in path.stem]
    places = {stem: place for place, stem in enumerate(FIRST)}
    ordered = sorted(pages, key=lambda path: (places.get(path.stem, len(FIRST)), path.stem))
    return [(path, *_heading(path)) for path in ordered]


def _in_language(path: Path) -> Path:
    """Return the page in the reader's language, `review.tr.md`, where there is one."""
    own = path.with_suffix(f".{get_language()}.md")
    return own if own.exists() else path


def _heading(path: Path) -> tuple[str, str]:
    """The title, and the first line of the text if it stands right under it."""
    title, *rest = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return title.removeprefix("# "), rest[0] if rest and not rest[0].startswith("#") else ""


def _rendered(text: str) -> SafeString:
    """Return the HTML of our own Markdown; raw HTML in it stays text, and the title stands above already."""
    body = text.split("\n", 1)[1] if text.startswith("# ") else text
    return SafeString(MarkdownIt("commonmark", {"html": False}).enable("table").render(body))
