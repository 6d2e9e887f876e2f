"""A receiver of webhooks on this machine: a real server that keeps what it was sent and answers as told."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from standardwebhooks import Webhook


class Received(NamedTuple):
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def verified(self, secret: str) -> Any:
        """Return the body as JSON, once standardwebhooks has verified it. Raises: WebhookVerificationError."""
        return Webhook(secret).verify(self.body, dict(self.headers))


class Receiver:
    """`answers` are given one after the other, the last for ever: a status, or a status with headers."""

    def __init__(self, port: int, name: str, scheme: str) -> None:
        self.port, self.name, self.scheme = port, name, scheme
        self.received: list[Received] = []
        self.answers: list[int | tuple[int, dict[str, str]]] = [204]

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}/hook?of=console"

    @property
    def authority(self) -> str:
        """What HUQAN_WEBHOOK_HOSTS has to name."""
        return f"{self.name}:{self.port}"

    def answer(self) -> tuple[int, dict[str, str]]:
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return said if isinstance(said, tuple) else (said, {})


@contextmanager
def receiving(name: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver for the block, by https where a context is given."""

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(Received(self.path, dict(self.headers.items()), body))
            status, headers = receiver.answer()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Keep quiet about who breaks off."""

    server = Quiet(("127.0.0.1", 0), Door)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1], name, "https" if tls else "http")
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def certificate(name: str, folder: Path) -> ssl.SSLContext:
    """Make a certificate for `name` that vouches for itself, in `folder`, and return a server's context with it."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, key_path = folder / "certificate.pem", folder / "key.pem"
    path.write_bytes(made.public_bytes(Encoding.PEM))
    key_path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key_path)
    return context
