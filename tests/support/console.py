"""A running console in a scratch folder: the real server, the real commands, the demo's people."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 40
GENEROUS = {
    "HUQAN_LOGIN_RATE_PER_MINUTE": "100000",
    "HUQAN_RATE_PER_MINUTE": "100000",
    "HUQAN_MAX_OPEN_PROPOSALS": "100000",
}
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes by a proxy


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        """The problem's code, None where the answer is not a problem."""
        return self.json().get("code") if "json" in self.headers.get("Content-Type", "") else None


class Agent:
    """An agent's client: one bearer token against one console."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send `body` (bytes as they are, all else as JSON) and return the answer, refusals too."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        said = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        return fetch(urllib.request.Request(self.url + path, data=raw, headers=said, method=method))

    def propose(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> Answer:
        """POST a proposal."""
        return self.call("POST", "/api/v1/proposals", {"tool": tool, "arguments": arguments, **more})

    def remember(self, content: str, **arguments: Any) -> Answer:
        """Propose a memory that names a ticket as its source."""
        source = {"kind": "user", "ref": "ticket-1"}
        return self.propose("memory.write", {"content": content, "provenance": source, **arguments})


def fetch(request: urllib.request.Request | str) -> Answer:
    """Return the answer to a request, refusals too."""
    try:
        with _direct.open(request, timeout=40) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as refusal:
        return Answer(refusal.code, refusal.headers, refusal.read())


def free_port() -> int:
    """Return a port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def obey_file_modes() -> None:
    """Have the program that is started next respect what is read-only, as it would for anybody but root."""
    drop_from_bounding_set, override_modes = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop_from_bounding_set, override_modes, 0, 0, 0)


class Console:
    """A console with demo data on a port of its own: `with Console() as console: console.url`."""

    demo: dict[str, Any]

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="huqan-console-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server: subprocess.Popen[bytes] | None = None
        self.environ = {**_without_settings(), **GENEROUS, "HUQAN_MODE": "demo", **settings}
        self.environ |= {"HUQAN_DATA_DIR": str(self.folder), "PORT": str(self.port)}

    def __enter__(self) -> Self:
        try:
            self.manage("migrate", "--verbosity", "0")
            self.demo = json.loads(self.manage("seed_demo", "--json").stdout)
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def manage(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run manage.py on this console's data and return what it printed.

        Raises: AssertionError where it fails and `check` is on.
        """
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
        )
        assert not check or done.returncode == 0, (
            f"manage.py {command} failed: {done.stdout[-800:]}{done.stderr[-2000:]}"
        )
        return done

    def start(self) -> None:
        """Start the server and wait until it answers. Raises: AssertionError with the log's end."""
        with open(self.log, "ab") as log:
            command = [sys.executable, "-m", "huqan_site.serve"]
            self.server = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=obey_file_modes if os.geteuid() == 0 else None,
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.server.poll() is None:
            with contextlib.suppress(OSError):
                if fetch(f"{self.url}/healthz").status == 200:
                    return
            time.sleep(0.1)
        raise AssertionError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int | None:
        """End the server's group of programs and return its exit status, None where none ran."""
        if self.server is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, with_signal)
        status = self.server.wait(20)
        self.server = None
        return status

    @contextlib.contextmanager
    def twin(self) -> Iterator[Console]:
        """Run a second server on this console's data for the block, on a port of its own."""
        other = copy.copy(self)
        other.port, other.server = free_port(), None
        other.url = f"http://127.0.0.1:{other.port}"
        other.environ = {**self.environ, "PORT": str(other.port)}
        other.start()
        try:
            yield other
        finally:
            other.stop()

    def remove(self) -> None:
        """Stop the server and remove the scratch folder."""
        self.stop(signal.SIGKILL if sys.exc_info()[0] else signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def log(self) -> Path:
        """What the server wrote to its output."""
        return self.folder / "server.log"

    def agent(self, name: str = "scout") -> Agent:
        """Return a client with the demo token of this agent."""
        return Agent(self.url, self.demo["agents"][name]["token"])

    def password(self, name: str) -> str:
        """Return the demo password of this person."""
        return str(self.demo["people"][name]["password"])


def _without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("HUQAN_")}
