"""Where a webhook may go: to a public https address, or to a host that the operator named.

A name is resolved and every address it has is checked, when the webhook is registered and again before each
delivery; the connection then goes to an address that was checked, so that a name which points elsewhere a
moment later (DNS rebinding) gains nothing.

Source: OWASP, Server-Side Request Forgery Prevention; IANA special-purpose address registries (RFC 6890).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple, TypeAlias

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from review.webhooks.refusals import BadTarget

IPAddress: TypeAlias = IPv4Address | IPv6Address
Resolver: TypeAlias = Callable[[str, int], Sequence[str]]

LONGEST = 2048
TRIED = 3  # addresses of one name
_HTTPS, _UNPRIVILEGED = 443, 1024
_PORTS = {"http": 80, "https": _HTTPS}
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]", re.ASCII)

# Only what is handed out to the public is reachable (2000::/3); of it, what leads back to IPv4 or nowhere is not.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; clouds keep credentials at 169.254.169.254
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",
        "2001::/23",  # IETF protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",
        "3fff::/20",
    )
]


class Target(NamedTuple):
    """An address as it was typed, taken apart. `path` begins with a slash and holds the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def name(self) -> str:
        """The host as a resolver and a certificate know it: without the brackets of an IPv6 address."""
        return self.host.strip("[]")

    @property
    def authority(self) -> str:
        """What the Host header says."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    def is_named_in(self, allowed: Collection[str]) -> bool:
        """Whether the operator named this host, with its port or with any."""
        return not {self.host, f"{self.host}:{self.port}"}.isdisjoint(name.lower() for name in allowed)


def parse(url: str, *, allowed: Collection[str]) -> Target:
    """Return `url` taken apart by the same parser that the sender uses.

    Raises: BadTarget for what is no https address, hides who is meant, or names a port of another service.
    """
    target = _taken_apart(url)
    if target.is_named_in(allowed):
        return target
    if target.scheme != "https":
        raise BadTarget("The address must begin with https://.")
    if target.port != _HTTPS and target.port < _UNPRIVILEGED:
        raise BadTarget("The port must be 443, or 1024 or higher.")
    return target


def checked(target: Target, *, allowed: Collection[str], resolve: Resolver) -> list[IPAddress]:
    """Return the addresses of `target` now, every one of which may be connected to.

    Raises: BadTarget when it has none, or when any of them is not public.
    """
    try:
        found = [ipaddress.ip_address(text) for text in resolve(target.name, target.port)]
    except (OSError, ValueError):
        found = []
    if not found:
        raise BadTarget(f"The name {target.name} has no address now.")
    if not target.is_named_in(allowed) and not all(map(is_public, found)):
        raise BadTarget(f"{target.name} leads into a network that is not public.")
    return found[:TRIED]


def is_public(address: IPAddress) -> bool:
    """Whether `address` belongs to somebody on the internet, and is not another network in disguise.

    IPv4 inside IPv6 (mapped, 6to4, Teredo, NAT64) is not looked into but refused.
    """
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


def system_resolver(name: str, port: int) -> list[str]:
    """Return every address that this machine's resolver has for `name`. Raises: OSError."""
    answers = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _taken_apart(url: str) -> Target:
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise BadTarget("An address is at most 2,048 plain characters without spaces.")
    try:
        parts = parse_url(url)
    except LocationParseError:
        raise BadTarget("This is not an address.") from None
    if parts.scheme not in _PORTS or not parts.host or not _HOST.fullmatch(parts.host):
        raise BadTarget("The address must begin with https:// and a host.")
    if parts.auth is not None or parts.fragment is not None:
        raise BadTarget("The address must hold neither a user name nor a fragment.")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    return Target(parts.scheme, parts.host.lower(), port, parts.request_uri)
