"""Throw the demo's data away and make it again: `python -m huqan_site.reset`, which `./run reset` calls.

Removes only files that the console itself made in its data folder, and only where a demo lives:
never in production mode, and never another database than SQLite in that folder.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from huqan_site.demo.keepsake import FILE as DEMO_FILE


def refuse_foreign_data() -> None:
    """Exit with a sentence where the data may belong to real people."""
    if settings.PRODUCTION:
        sys.exit("HUQAN_MODE is production: ./run reset only remakes demo data.")
    if os.environ.get("HUQAN_DATABASE_URL"):
        sys.exit("HUQAN_DATABASE_URL is set: ./run reset only remakes the demo's SQLite file. Unset it.")
    if database_file().exists() and not (settings.HUQAN_DATA_DIR / DEMO_FILE).exists():
        sys.exit(f"{settings.HUQAN_DATA_DIR} holds a database that is not the demo's. Nothing was removed.")


def database_file() -> Path:
    """Return the path of the SQLite file."""
    return Path(settings.DATABASES["default"]["NAME"])


def remove_demo() -> None:
    """Remove what the console wrote into the data folder; keys or a witness kept elsewhere stay."""
    database = database_file()
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    for name in (DEMO_FILE, "witness.txt", "withdrawn.jsonl"):
        (settings.HUQAN_DATA_DIR / name).unlink(missing_ok=True)
    shutil.rmtree(settings.HUQAN_DATA_DIR / "keys", ignore_errors=True)


def main() -> None:
    """Remake the demo, or say in one sentence why not."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "huqan_site.settings")
    try:
        django.setup()
    except ImproperlyConfigured as refusal:
        sys.exit(str(refusal))
    from huqan_site.first_start import prepare

    refuse_foreign_data()
    remove_demo()
    prepare()
    print(f"Fresh demo data is in {settings.HUQAN_DATA_DIR}. Start the console with ./run.")


if __name__ == "__main__":
    main()
