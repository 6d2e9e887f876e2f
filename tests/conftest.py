"""Fixtures that every test may ask for."""

from __future__ import annotations

from pathlib import Path
from tests.support import environment
if (Path(__file__).parent.parent / "review/audit/models.py").exists():
    environment.make_private()
