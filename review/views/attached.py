"""Files that people take with them."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header


def attachment(texts: Iterable[str] | Iterable[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    """Return an answer that the browser saves as `name`, sent piece by piece."""
    disposition = content_disposition_header(as_attachment=True, filename=name)
    return StreamingHttpResponse(texts, content_type=media_type, headers={"Content-Disposition": disposition})
