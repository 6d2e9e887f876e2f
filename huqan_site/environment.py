"""What the environment may say, and what it may not: refusals name the variable to change."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
import dj_email_url  # type: ignore[import-untyped]
from django.core.exceptions import ImproperlyConfigured
from environs import Env

SQLITE_INIT = (
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"  # NORMAL can lose a decision that was acknowledged
    "PRAGMA recursive_triggers=ON;"  # else REPLACE walks past the delete guards
    "PRAGMA foreign_keys=ON;"
)
CONNECTION_SECONDS = 60
LOOPBACK = ("127.", "localhost:", "[::1]:")


def database(env: Env, folder: Path, *, wait: float) -> dict[str, Any]:
    """Return Django's settings of the one database: HUQAN_DATABASE_URL, or SQLite in the data folder.

    A writer waits so many seconds for a lock that another has.
    """
    url = env.str("HUQAN_DATABASE_URL", "")
    if url and not url.startswith("sqlite"):
        return _postgresql(url, f"-c lock_timeout={int(wait * 1000)}ms -c statement_timeout=60s")
    path = url.removeprefix("sqlite:///") if url else str(folder / "huqan.sqlite3")
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        # Opening costs more than a proposal, and closing the last one folds the write-ahead log in.
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": wait, "init_command": SQLITE_INIT},
        "TEST": {"NAME": str(folder / "test.sqlite3")},
    }


def owning_database(env: Env, serving: dict[str, Any], *, wait: float) -> dict[str, Any] | None:
    """Return the settings of HUQAN_DATABASE_OWNER_URL: `serving`'s database, by the role that owns its tables.

    None where nothing is said. A migration waits for locks like any writer, and then takes as long as it takes.

    Raises: ImproperlyConfigured.
    """
    url = env.str("HUQAN_DATABASE_OWNER_URL", "")
    if not url:
        return None
    owning = _postgresql(url, f"-c lock_timeout={int(wait * 1000)}ms")
    for found in (serving, owning):
        if found["ENGINE"] != "django.db.backends.postgresql" or found["NAME"] != owning["NAME"]:
            raise ImproperlyConfigured(
                "HUQAN_DATABASE_OWNER_URL and HUQAN_DATABASE_URL must name the same PostgreSQL database."
            )
    if serving["USER"] in ("", owning["USER"]):
        raise ImproperlyConfigured(
            "HUQAN_DATABASE_URL must name another role than HUQAN_DATABASE_OWNER_URL: the one that only serves."
        )
    return owning


def _postgresql(url: str, limits: str) -> dict[str, Any]:
    """What the URL says of how to connect, such as `?sslmode=verify-full`, stays."""
    place = dj_database_url.parse(url, conn_max_age=CONNECTION_SECONDS, conn_health_checks=True)
    return {
        **place,
        "OPTIONS": {**place.get("OPTIONS", {}), "connect_timeout": 5, "options": limits},
    }


def mail_url(env: Env) -> str:
    """Return HUQAN_MAIL_URL, empty where no mail leaves. Raises: ImproperlyConfigured."""
    url = env.str("HUQAN_MAIL_URL", "")
    try:
        usable = not url or "EMAIL_BACKEND" in dj_email_url.parse(url)
    except ValueError:
        usable = False
    if not usable:
        raise ImproperlyConfigured(
            "HUQAN_MAIL_URL must be an address like submission://user:password@mail.example."
        )
    return url


def checkpoint_addresses(env: Env) -> list[str]:
    """Return HUQAN_CHECKPOINTS_TO, none by default. Raises: ImproperlyConfigured."""
    addresses: list[str] = env.list("HUQAN_CHECKPOINTS_TO", [])
    if not all(re.match(r"mailto:[^@\s]+@[^@\s]+$|https?://[^\s]+$", address) for address in addresses):
        raise ImproperlyConfigured(
            "HUQAN_CHECKPOINTS_TO must be addresses like mailto:auditor@mail.example or https://witness.example/log, "
            "separated by commas."
        )
    return addresses


def secret_key(env: Env, folder: Path) -> str:
    """Return HUQAN_SECRET_KEY; in demo mode one that was made once and kept in the data folder."""
    given = env.str("HUQAN_SECRET_KEY", "")
    if given or env.str("HUQAN_MODE", "demo") == "production":
        return given
    path = folder / "secret_key"
    if not path.exists():
        _make(path, secrets.token_urlsafe(50))
    return path.read_text()


def _make(path: Path, text: str) -> None:
    """Let `path` appear whole, or not at all when another process was first."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
        new.write(text)
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def refuse_unsafe(env: Env, *, mode: str, bind: str, hosts: list[str], base_url: str) -> None:
    """Raise ImproperlyConfigured, naming the variable, when the combination is not safe to start."""
    if mode not in ("demo", "production"):
        raise ImproperlyConfigured("HUQAN_MODE must be demo or production.")
    if "*" in hosts:
        raise ImproperlyConfigured("HUQAN_ALLOWED_HOSTS may not hold *: name the hosts people type.")
    if mode == "demo" and not bind.startswith(LOOPBACK):
        raise ImproperlyConfigured("HUQAN_BIND must be a loopback address in demo mode.")
    if mode == "production":
        _refuse_unsafe_production(env, base_url)


def _refuse_unsafe_production(env: Env, base_url: str) -> None:
    if len(env.str("HUQAN_SECRET_KEY", "")) < 50:
        raise ImproperlyConfigured("HUQAN_SECRET_KEY must hold at least 50 random characters in production.")
    if not env.str("HUQAN_ALLOWED_HOSTS", ""):
        raise ImproperlyConfigured("HUQAN_ALLOWED_HOSTS must name the console's host in production.")
    if not base_url.startswith("https://"):
        raise ImproperlyConfigured("HUQAN_BASE_URL must be the console's https address in production.")
