"""A checkpoint is a note that anybody with the public key can check."""

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from huqan_site.lib.signed_note import BadNote, sign, verify

DATA = Path(__file__).parents[2] / "data"
CHECKPOINT = json.loads((DATA / "audit.json").read_text())["checkpoint"]
TEXT = CHECKPOINT.split("\n\n")[0] + "\n"
NAME = "console.example.org/audit"
KEY = Ed25519PrivateKey.from_private_bytes(
    bytes.fromhex(json.loads((DATA / "permit.json").read_text())["seed_hex"])
)
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))


def test_the_shared_checkpoint_comes_out_to_the_byte():
    assert sign(TEXT, name=NAME, key=KEY) == CHECKPOINT


def test_it_verifies_under_its_key_also_beside_older_ones():
    assert verify(CHECKPOINT, name=NAME, keys=[OTHER.public_key(), KEY.public_key()]) == TEXT


@pytest.mark.parametrize(("name", "key"), [(NAME, OTHER), ("elsewhere", KEY)])
def test_a_note_of_another_key_or_name_is_refused(name, key):
    with pytest.raises(BadNote):
        verify(CHECKPOINT, name=name, keys=[key.public_key()])


def test_our_signature_under_another_name_is_not_ours():
    with pytest.raises(BadNote):
        verify(CHECKPOINT.replace(f"— {NAME} ", "— elsewhere "), name=NAME, keys=[KEY.public_key()])


def test_a_changed_text_is_refused():
    with pytest.raises(BadNote):
        verify(CHECKPOINT.replace("\n2\n", "\n3\n"), name=NAME, keys=[KEY.public_key()])


def test_a_text_with_blank_lines_is_whole():
    text = "first\n\nsecond\n"
    assert verify(sign(text, name="n", key=KEY), name="n", keys=[KEY.public_key()]) == text


def test_a_strangers_signature_is_passed_over_and_a_false_one_of_ours_is_not():
    ours, strangers = (sign(TEXT, name=NAME, key=key).split("\n\n")[1] for key in (KEY, OTHER))
    note = f"{TEXT}\n{strangers}{ours}"
    assert verify(note, name=NAME, keys=[KEY.public_key()]) == TEXT
    blob = base64.b64decode(ours.split(" ")[2])
    false = base64.b64encode(blob[:-1] + bytes([blob[-1] ^ 1])).decode()
    with pytest.raises(BadNote):
        verify(f"{note}— {NAME} {false}\n", name=NAME, keys=[KEY.public_key()])


@pytest.mark.parametrize(
    "note",
    ["", "text\n", "text\n\n", "text\n\nno dash\n", "text\n\n— n\n", "text\n\n— n !!!!\n", "text\n\n— n AAA\n",
     CHECKPOINT[:-1], "text\n\n— n \n", "te\rxt\n\n— n AAAA\n"],
)  # fmt: skip
def test_what_is_no_note_is_refused(note):
    with pytest.raises(BadNote):
        verify(note, name="n", keys=[KEY.public_key()])


@pytest.mark.parametrize(
    ("text", "name"),
    [("no line break", "n"), ("bell\a\n", "n"), ("text\n", ""), ("text\n", "a b"), ("text\n", "a+b")],
)
def test_what_could_not_be_read_back_is_not_signed(text, name):
    with pytest.raises(BadNote):
        sign(text, name=name, key=KEY)
