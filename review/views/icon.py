"""The sign of a browser's tab with a number on it: how much its reader can decide."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

MOST = 99
SIZES = {1: 14, 2: 12, 3: 9}  # of the letters, by how many there are
SIGN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">'
    "<style>@media (prefers-color-scheme:dark){{rect{{fill:#55c9b6}}text{{fill:#05211c}}}}</style>"
    '<rect width="20" height="20" rx="5" fill="#0b685c"/>'
    '<text x="10" y="10" fill="#fff" font-family="system-ui,sans-serif" font-size="{size}" font-weight="700" '
    'text-anchor="middle" dominant-baseline="central">{text}</text></svg>'
)


@require_safe
@cache_control(public=True, max_age=31_536_000, immutable=True)
def icon(request: HttpRequest, count: int) -> HttpResponse:
    text = str(count) if count <= MOST else f"{MOST}+"
    return HttpResponse(SIGN.format(text=text, size=SIZES[len(text)]), content_type="image/svg+xml")
