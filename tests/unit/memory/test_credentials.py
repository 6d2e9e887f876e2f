"""A secret is told by its shape or by being given; prose about secrets is not one.

The secrets here are made up; none opens anything. They are put together from pieces, so that scanners of
this repository have nothing to find.
"""

import time

import pytest

from memory.domain.credentials import secrets_in

SECRETS = [
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA"),
    ("AWS access key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("GitHub token", "ghp_" + "a1B2" * 9),
    ("GitHub token", "github_pat_" + "11ABCDEFG0abcdefghijkl_mnop"),
    ("GitLab token", "glpat-" + "abcdefghij0123456789"),
    ("Slack token", "xoxb-" + "123456789012-abcdefghijkl"),
    ("Slack address", "hooks.slack.com/services/" + "T0000000/B0000000/abcdefghijkl"),
    ("Stripe key", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    ("Google key", "AIza" + "Sy1" * 11 + "ab"),
    ("model provider key", "sk-proj-" + "abc123DEF456" * 4),
    ("package registry token", "npm_" + "a1B2c3" * 6),
    ("bot token", "123456789:" + "AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"),
    ("Huqan agent token", "hqn_0123456789ab_" + "ab12" * 12),
    ("JSON Web Token", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9.SflKxwRJSMeKKF2QT4fwpM"),
    ("authorization header", "Bearer " + "abcdef1234567890abcdef1234567890"),
]
GIVEN = [
    ("password = {}", "Tr0ub4dor&3"),
    ("The root password is {}.", "hunter2!X"),
    ("db_password: '{}'", "xK9#mP2$vL"),
    ("DB_PASS={}", "hunter2abc"),
    ("API_KEY={}", "9f8a7b6c5d4e3f2a1b0c"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ('{{"client_secret": "{}"}}', "8Fj2kd93mfLs0"),
    ("token = {}", "8f14e45fceea167a5a36dedd4bea2543"),
    ("passcode: {}", "48291377"),
    ('the wifi password is "{}"', "Blue-Horse-77!"),
    ("parola: {}", "Kedi1923!x"),
    ("Şifresi: {}", "Ank4ra!2024"),
]
PROSE = [
    "The password is rotated every 90 days.",
    "Passwords must be at least 12 characters long.",
    "Password policy: NIST-800-63B",
    "The password is sha256 hashed.",
    "password hash: $argon2id$v=19$m=65536",
    "password: ${DB_PASSWORD}",
    "password: ********",
    "password = os.environ['DB_PASSWORD_2']",
    "api_key = settings.API_KEY_V2",
    "token: <your-token-1234>",
    "secret: /run/secrets/db_password1",
    "secret: see vault item 42",
    "The API key is stored in Vault under kv/data/app42.",
    "Reset the password: https://example.org/reset?u=1a2b3c",
    "The access token is valid for 3600s, the token bucket refills at 10 per second.",
    "token is 2026-11-30T10:00:00Z",
    "token: BM25Okapi",
    "token_id = 0190a1b2-0000-7000-8000-000000000001",
    "key pair RSA-2048, primary key: 0190a1b2-0000-7000-8000-000000000001",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "550e8400-e29b-41d4-a716-446655440000",
    "commit 356a192b7913b04c54574d18c28d46e6395428ab",
    "secretary: Bob12345, passwordless sign-in, sk-learn-based pipelines",
    "https://example.org:8443/a@b and http://localhost:8000/@user and bob@example.org",
    "Anahtar kasada durur; parola her üç ayda bir değiştirilir.",
    "Parola: en az on iki karakter",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=lambda value: value[:18])
def test_a_known_format_is_named_with_its_place(kind, secret):
    text = f"Use this: {secret}"
    assert [(found.kind, text[found.start : found.end]) for found in secrets_in(text)] == [(kind, secret)]


@pytest.mark.parametrize(
    "address", ["https://admin:" + "hunter2@db.local", "postgres://app:" + "s3cr3t@[::1]:5432/x"]
)
def test_a_password_in_an_address_is_found_up_to_the_host(address):
    (found,) = secrets_in(f"The database is at {address}.")
    assert (found.kind, found.end - found.start) == ("password in an address", address.index("@") + 1)


def test_the_shortest_that_has_a_format_is_found():
    assert [found.kind for found in secrets_in("ab://:" + "abc@h")] == ["password in an address"]


@pytest.mark.parametrize(("sentence", "value"), GIVEN)
def test_a_value_given_as_a_secret_is_found_without_its_sentence(sentence, value):
    text = sentence.format(value)
    found = secrets_in(text)
    assert [text[secret.start : secret.end].rstrip(".") for secret in found] == [value]


@pytest.mark.parametrize("sentence", PROSE)
def test_prose_digests_and_placeholders_pass(sentence):
    assert secrets_in(sentence) == []


def test_every_secret_of_a_text_is_found_once_and_in_order():
    text = " ".join(secret for _, secret in SECRETS[2:6])
    assert [found.kind for found in secrets_in(text)] == [kind for kind, _ in SECRETS[2:6]]


def test_nothing_that_is_returned_holds_the_value():
    for _, secret in SECRETS:
        assert all(secret not in repr(found) for found in secrets_in(secret))


@pytest.mark.parametrize(
    "unit",
    ["eyJ", "eyJaaaaaaaa.", "sk-", "-----BEGIN ", "-----BEGIN A PRIVATE KEY-----", "://a:", "a://", "password=",
     "secret_a_", "token=a" + ".a" * 250 + " ", "token=a" + "-1" * 250 + "! ", "AccountKey=", "bearer ", "1:",
     "password" + " " * 5],
)  # fmt: skip
def test_a_hostile_text_costs_linear_time(unit):
    began = time.process_time()
    secrets_in(unit * (128 * 1024 // len(unit)))
    assert time.process_time() - began < 2
