"""What an examination finds, in words."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Weight(StrEnum):
    """How bad a finding is: `broken` must be mended before anybody decides, `weak` should be."""

    BROKEN = "broken"
    WEAK = "weak"


class Finding(NamedTuple):
    """What is wrong, and what to do about it, in one or two sentences."""

    weight: Weight
    sentence: str


def broken(sentence: str) -> Finding:
    """Return a finding that must be mended."""
    return Finding(Weight.BROKEN, sentence)


def weak(sentence: str) -> Finding:
    """Return a finding that should be mended."""
    return Finding(Weight.WEAK, sentence)
