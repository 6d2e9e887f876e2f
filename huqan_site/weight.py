"""What an answer weighs on the wire: pages and static files leave gzipped where the browser takes it.

Agents' answers stay as they are: they are small, and their ETag names exact bytes.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

TEXTS = ("text/", "image/svg+xml")


class LightStatics(WhiteNoiseMiddleware):  # type: ignore[misc]
    """whitenoise, which compresses nothing by itself; we have no build step that would do it beforehand."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponseBase:
        """Answer as whitenoise does, a whole text in gzip."""
        answer: HttpResponseBase = WhiteNoiseMiddleware.serve(static_file, request)
        if answer.status_code != 200 or not answer.headers["Content-Type"].startswith(TEXTS):
            return answer
        patch_vary_headers(answer, ["Accept-Encoding"])
        if request.method != "GET" or "gzip" not in request.headers.get("Accept-Encoding", ""):
            return answer
        answer.close()
        [(_, path, _)] = static_file.alternatives
        light = HttpResponse(_gzipped(Path(path), static_file.etag), headers=dict(answer.items()))
        light["Content-Encoding"], light["Content-Length"] = "gzip", str(len(light.content))
        return light


@cache
def _gzipped(path: Path, etag: str) -> bytes:
    return gzip.compress(path.read_bytes(), mtime=0)


class LightPages(GZipMiddleware):
    """Django's, which makes every length a little random (BREACH), for the people's pages alone.

    What carries an ETag is asked for again and again and mostly answered 304.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a page, and leave calls, exports and polls alone."""
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if not is_page or response.has_header("ETag"):
            return response
        return super().process_response(request, response)
