"""Start the console's server: `python -m huqan_site.serve [--demo]`, which is what `./run` calls.

The address is settled first, since the settings read it; then Django, then gunicorn in this same
process, so that a signal to it stops everything. With `--demo` the database is migrated and holds
the demo's people and proposals before the first request. The worker runs beside the server, as long as it
does, unless HUQAN_WORKER=off says that it runs elsewhere.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from gunicorn.app.base import BaseApplication

from huqan_site.open_database import can_be_kept

FIRST_PORT = 8000
WORKER_GRACE = 3  # seconds to end its step
PORTS_TO_TRY = 50


class Address(NamedTuple):
    """Where the server listens; as text it is what HUQAN_BIND says."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def is_free(self) -> bool:
        """Return whether nothing listens here now; an address of another machine counts as taken."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # gunicorn sets it too
            try:
                probe.bind((self.host.strip("[]"), self.port))
            except OSError:
                return False
        return True


def address(environ: Mapping[str, str]) -> Address:
    """Return the address to listen on: HUQAN_BIND, or PORT on loopback, or the first free port from 8000.

    Only an address that nobody asked for may be replaced by another. Raises: SystemExit with a sentence.
    """
    for name, text in (("HUQAN_BIND", environ.get("HUQAN_BIND")), ("PORT", environ.get("PORT"))):
        if text:
            asked = _parse(name, text if name == "HUQAN_BIND" else f"127.0.0.1:{text}")
            if not asked.is_free():
                sys.exit(f"{asked} is in use or not on this machine. Choose another with {name}.")
            return asked
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TO_TRY):
        if (free := Address("127.0.0.1", port)).is_free():
            return free
    sys.exit(f"Ports {FIRST_PORT} to {FIRST_PORT + PORTS_TO_TRY - 1} are all in use. Choose one with PORT.")


def _parse(name: str, text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        example = "127.0.0.1:8000" if name == "HUQAN_BIND" else "8000"
        sys.exit(f"{name} must look like {example}.")
    return Address(host, int(port))


class Companion:
    """The worker as a program of its own beside the server; it ends with it, however the server ends."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, unless HUQAN_WORKER=off."""
        if settings.HUQAN_WORKER:
            command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]
            self._running = subprocess.Popen([*command, "--parent", str(os.getpid())])

    def stop(self) -> None:
        """Have it end the step it is at, and then itself."""
        if self._running is not None:
            self._running.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._running.wait(WORKER_GRACE)


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn ships no types
    """gunicorn around the console, without a configuration file or a control socket."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Hand our options to gunicorn."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Callable[..., Any]:
        """Return the WSGI application with every page and call loaded: once, not in each worker at its first."""
        from huqan_site import urls  # noqa: F401
        from huqan_site.wsgi import application

        return application


def server_options(bind: Address, threads: int, greeting: str) -> dict[str, Any]:
    """Return gunicorn's options: many threads, since each long poll holds one."""
    companion = Companion()

    def ready(_server: Any) -> None:
        print(greeting, flush=True)  # not before it answers
        companion.start()

    return {
        "bind": str(bind),
        "worker_class": "huqan_site.arrivals.Worker",
        "workers": int(os.environ.get("WEB_CONCURRENCY") or 2),
        "threads": threads,
        "preload_app": True,
        "graceful_timeout": 3,  # plenty for a decision; a long poll is cut, and asks again
        "keepalive": 5,
        "control_socket_disable": True,
        "loglevel": "warning",
        "post_worker_init": lambda _worker: stay_connected(),
        "when_ready": ready,
        "on_exit": lambda _server: stop(companion),
    }


def stop(companion: Companion) -> None:
    """End the worker; then sign what was recorded last, since nobody comes by to do it now."""
    from review.audit.log import sign_checkpoint
    from review.audit.refusals import Unavailable

    companion.stop()
    try:
        sign_checkpoint()
    except (DatabaseError, Unavailable):
        logging.getLogger(__name__).warning("What was recorded last is not signed: the next start does it.")
    finally:
        connections.close_all()


def stay_connected() -> None:
    """Keep one connection to SQLite open in each worker, beside those that come and go with requests.

    The last to leave takes the files beside the database away. On a disk that is full nobody could make them again,
    and without them nothing can be read either.
    """
    if connection.vendor == "sqlite" and can_be_kept(connection):
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM sqlite_master")


def put_in_force() -> None:
    """Reject, erase and revoke once more what an older copy of the database has forgotten, before anybody reads.

    Raises: SystemExit with a sentence where that cannot be done.
    """
    from review.audit import withdrawn
    from review.audit.refusals import Unavailable

    try:
        count = withdrawn.enforce()
    except (Unavailable, OSError) as refusal:
        sys.exit(
            f"The database has forgotten what {withdrawn.path()} tells, and that cannot be put in force: {refusal} "
            "Nothing is served before it is."
        )
    if count:
        print(f"Put in force again, from {withdrawn.path().name}: {count}. Each has its entry.", flush=True)


def missing_migrations() -> int:
    """Return how many migrations the database still lacks."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def serve(*, demo: bool) -> None:
    """Serve until a signal ends it."""
    bind = address(os.environ)
    os.environ["HUQAN_BIND"] = str(bind)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "huqan_site.settings")
    django.setup()
    greeting = greet_demo() if demo else greet_operator()
    put_in_force()
    connections.close_all()  # gunicorn forks, and no worker may inherit an open database
    run(Server(server_options(bind, settings.HUQAN_THREADS, greeting)))


def run(server: Server) -> None:
    """Run until a signal ends it, then leave at once, in the master as in each worker.

    Everything is answered and committed by then; taking a program of this size apart object by object
    takes longer than the grace that the master grants its workers.
    """
    try:
        server.run()
    except SystemExit as end:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))


def greet_demo() -> str:
    """Return what a newcomer should read, with the demo loaded."""
    from huqan_site.first_start import prepare, welcome

    return welcome(prepare())


def greet_operator() -> str:
    """Return one line with the address. Raises: SystemExit where migrations are missing."""
    if missing := missing_migrations():
        sys.exit(f"The database lacks {missing} migrations of this version. Run ./run manage migrate first.")
    return f"Serving {settings.HUQAN_BASE_URL} until it is stopped."


def main() -> None:
    """Serve, or say in one sentence why not."""
    try:
        serve(demo="--demo" in sys.argv[1:])
    except ImproperlyConfigured as refusal:
        sys.exit(str(refusal))
    except DatabaseError as failure:
        kind = type(failure).__name__
        sys.exit(
            f"The database did not answer ({kind}). Check HUQAN_DATABASE_URL and HUQAN_DATA_DIR.\n{failure}"
        )


if __name__ == "__main__":
    main()
