"""Where a webhook may go: the internet, by https; and inside, only what the operator named."""

from __future__ import annotations

import ipaddress

import pytest

from review.webhooks.refusals import BadTarget
from review.webhooks.targets import Target, checked, is_public, parse

INSIDE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.9",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
OUTSIDE = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::200e"]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_that_is_not_the_publics_is_not_connected_to(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_of_the_internet_is(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/",
        "ftp://hooks.example/",
        "https://",
        "hooks.example",
        "//hooks.example/",
        "https://user@hooks.example/",
        "https://user:word@hooks.example/",
        "https://hooks.example/#part",
        "https://hooks.example:22/",
        "https://hooks.example:0/",
        "https://hooks.example:99999/",
        "https://hooks.example./",
        "https://[fe80::1%25eth0]/",
        "https://hooks.example\\@inside.example/",
        "https://hooks.example/a b",
        "https://hooks.example/\n",
        "https://hооks.example/",
        "https://hooks.example/" + "a" * 2048,
    ],
)
def test_an_address_that_hides_something_is_refused(url: str) -> None:
    with pytest.raises(BadTarget):
        parse(url, allowed=[])


def test_a_plain_https_address_is_taken_apart() -> None:
    assert parse("https://Hooks.Example/a?b=c", allowed=[]) == Target("https", "hooks.example", 443, "/a?b=c")
    assert parse("https://hooks.example:8443", allowed=[]).authority == "hooks.example:8443"
    assert parse("https://[2606:4700::1111]/", allowed=[]).name == "2606:4700::1111"


@pytest.mark.parametrize("named", ["inside.example", "INSIDE.example:8000"])
def test_a_host_that_the_operator_named_may_be_inside_and_without_tls(named: str) -> None:
    target = parse("http://inside.example:8000/", allowed=[named])
    assert checked(target, allowed=[named], resolve=answering("10.0.0.7"))
    with pytest.raises(BadTarget):
        parse("http://inside.example:8000/", allowed=["example", "inside.example:9000", "xinside.example"])


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_inside_is_refused_also_when_it_leads_outside_too(address: str) -> None:
    target = parse("https://hooks.example/", allowed=[])
    for answers in ([address], ["8.8.8.8", address]):
        with pytest.raises(BadTarget):
            checked(target, allowed=[], resolve=answering(*answers))
    assert checked(target, allowed=[], resolve=answering("8.8.8.8")) == [ipaddress.ip_address("8.8.8.8")]


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "017700000001"])
def test_a_number_that_reads_as_a_loopback_address_is_refused(host: str) -> None:
    target = parse(f"https://{host}/", allowed=[])
    with pytest.raises(BadTarget):
        checked(target, allowed=[], resolve=answering("127.0.0.1"))


def test_a_name_without_an_address_is_refused() -> None:
    def fails(name: str, port: int) -> list[str]:
        raise OSError

    target = parse("https://hooks.example/", allowed=[])
    for resolve in (fails, answering()):
        with pytest.raises(BadTarget, match="no address"):
            checked(target, allowed=[], resolve=resolve)


def answering(*addresses: str):  # type: ignore[no-untyped-def]
    """A resolver that gives these addresses for every name."""
    return lambda name, port: list(addresses)
