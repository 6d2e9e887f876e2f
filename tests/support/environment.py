"""Give this pytest process an environment of its own, before any setting is read.

The controller and every xdist worker get a data folder each (database file, keys, witness file), and
nothing of the caller's own console is touched. tests/conftest.py calls this first; that is also why
the settings module is named here and not in pyproject.toml, which pytest-django would read sooner.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from django.conf import settings

CLUSTER = "HUQAN_TEST_CLUSTER"  # scratch folder of the private cluster; only tests.support.suite sets it


def make_private() -> Path:
    """Point every setting at a new scratch folder and return that folder; it is removed at exit.

    Raises: pytest.UsageError where the settings or a database of somebody else are already in use.
    """
    if settings.configured:
        raise pytest.UsageError("Unset DJANGO_SETTINGS_MODULE: the tests choose their settings themselves.")
    if "HUQAN_DATABASE_URL" in os.environ and CLUSTER not in os.environ:
        raise pytest.UsageError(
            "HUQAN_DATABASE_URL is set, and the tests only use a database that they started themselves. "
            "Unset it; ./run test --postgres starts a PostgreSQL of its own."
        )
    folder = Path(tempfile.mkdtemp(prefix="huqan-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _forget_the_callers_settings()
    os.environ |= {
        "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # Playwright keeps an event loop in the test's thread
        "HUQAN_DATA_DIR": str(folder),
        "HUQAN_MODE": "demo",
    }
    _read_settings()
    return folder


def _read_settings() -> None:
    """Read the settings now, and leave no variable behind that would make an xdist worker read them sooner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_SETTINGS_MODULE", "huqan_site.settings")
        assert settings.DATABASES


def _forget_the_callers_settings() -> None:
    for name in list(os.environ):
        if name == "PORT" or (name.startswith("HUQAN_") and name not in (CLUSTER, "HUQAN_DATABASE_URL")):
            del os.environ[name]
