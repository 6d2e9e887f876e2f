"""Keys appear whole or not at all, only their owner reads them, and old ones stay for checking."""

import multiprocessing
import stat
from pathlib import Path

import pytest

from huqan_site.lib.keyring import Keyring, UnusableKey


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_is_made_at_first_use_and_stays(folder):
    kid, key = Keyring(folder).signing_key("permit")
    again, same = Keyring(folder).signing_key("permit")
    assert kid == again
    assert key.private_bytes_raw() == same.private_bytes_raw()


def test_only_their_owner_can_read_them(folder):
    Keyring(folder).signing_key("permit")
    Keyring(folder).secret("tombstone")
    assert mode(folder) == 0o700
    assert {mode(path) for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 2


def test_an_open_folder_is_closed_before_a_key_is_put_there(folder):
    folder.mkdir()
    folder.chmod(0o755)
    Keyring(folder).secret("tombstone")
    assert mode(folder) == 0o700


def test_purposes_have_keys_of_their_own(folder):
    keyring = Keyring(folder)
    assert keyring.signing_key("permit")[0] != keyring.signing_key("log")[0]
    assert keyring.secret("tombstone")[1] != keyring.signing_key("log")[1].private_bytes_raw()


def test_after_a_rotation_the_newest_signs_and_all_are_published(folder):
    keyring = Keyring(folder)
    old, old_key = keyring.signing_key("permit")
    keyring.rotate("permit")
    new, _ = keyring.signing_key("permit")
    assert list(keyring.public_keys("permit")) == [old, new]
    signature = old_key.sign(b"x")
    keyring.public_keys("permit")[old].verify(signature, b"x")


def test_after_a_rotation_every_secret_is_still_looked_up(folder):
    keyring = Keyring(folder)
    old, secret = keyring.secret("tombstone")
    keyring.rotate("tombstone")
    new, _ = keyring.secret("tombstone")
    assert list(keyring.secrets("tombstone")) == [old, new]
    assert keyring.secrets("tombstone")[old] == secret


def test_the_tenth_thousand_key_still_counts_as_newest(folder):
    keyring = Keyring(folder)
    keyring.secret("tombstone")
    (folder / "tombstone-10000.key").write_text("ab" * 32)
    assert keyring.secret("tombstone")[1] == bytes.fromhex("ab" * 32)
    keyring.rotate("tombstone")
    assert (folder / "tombstone-10001.key").exists()


def test_looking_makes_no_key(folder):
    assert Keyring(folder).public_keys("permit") == {}
    assert Keyring(folder).secrets("tombstone") == {}
    assert not folder.exists()


def test_an_id_says_nothing_about_a_secret(folder):
    kid, secret = Keyring(folder).secret("tombstone")
    assert kid not in secret.hex()
    assert len(secret) == 32


@pytest.mark.parametrize("content", ["", "ab" * 31, "zz" * 32, "\xff"])
def test_a_damaged_key_is_named_and_not_replaced(folder, content):
    folder.mkdir()
    path = folder / "permit-0001.key"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(UnusableKey, match="permit-0001") as error:
        Keyring(folder).signing_key("permit")
    assert content == "" or content not in str(error.value)
    assert path.read_text(encoding="latin-1") == content


def current_kid(folder: Path) -> str:
    return Keyring(folder).signing_key("permit")[0]


def test_two_that_race_for_the_first_key_get_one(folder):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        kids = pool.map(current_kid, [folder] * 16, chunksize=1)
    assert len(set(kids)) == 1
    assert len(list(folder.iterdir())) == 1
