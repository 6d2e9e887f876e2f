"""A QR code as the path of an SVG: drawn in the page itself, so that nothing is fetched."""

from __future__ import annotations

from typing import NamedTuple

import qrcode  # type: ignore[import-untyped]

QUIET = 4  # modules of white around it, as ISO/IEC 18004 asks


class Picture(NamedTuple):
    """A square of `size` modules, quiet zone included, and the path of the dark ones."""

    size: int
    path: str


def picture(text: str) -> Picture:
    code = qrcode.QRCode(border=QUIET, error_correction=qrcode.constants.ERROR_CORRECT_M)
    code.add_data(text)
    rows = code.get_matrix()
    dark = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark)
    return Picture(len(rows), "".join(dark))
