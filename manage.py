#!/usr/bin/env python3
"""Django's command line for the console; `./run manage` calls it with everything installed."""

import os
import sys


def main() -> None:
    """Run the command named in `sys.argv`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "huqan_site.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed for this Python. Use ./run manage instead of python manage.py.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
