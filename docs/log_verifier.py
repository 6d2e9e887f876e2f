"""Check an export of the Huqan review console's audit log, or a proof from it, trusting neither.

One file for an auditor. It needs Python 3.9 or later and `cryptography`, and nothing of the console.

    python log_verifier.py EXPORT           a folder or a zip, with entries.jsonl, checkpoints.txt and keys.txt
    python log_verifier.py PROOF.json       what `manage.py prove` or the page of an entry gave
    python log_verifier.py EXPORT --checkpoints witness.txt --key 'huqan.local/audit+1234abcd+AT…'

It exits with 0 where everything that was given is as it was when it was signed, with 1 at a fault, and with 2 where
that cannot be judged: a part is never ok. Give the keys yourself (`--key`, as `keys.txt` writes them) and the
checkpoints that were sent to you (`--checkpoints`): those that come with an export are only as good as its sender.

Hashes are those of RFC 6962, checkpoints those of https://c2sp.org/tlog-checkpoint, keys those of
https://c2sp.org/signed-note. What it cannot know is whether the tables of the console agree with the log:
`manage.py verify_audit` looks at both.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ENTRIES, CHECKPOINTS, KEYS, PRIVATE = "entries.jsonl", "checkpoints.txt", "keys.txt", "private.jsonl"
GENESIS = "0" * 64
SHOWN = 20  # faults that are printed; all are counted
EVERY = 100_000  # entries between two lines of progress


class Unreadable(Exception):
    """What was given is not an export or a proof. The sentence says why."""


class Key(NamedTuple):
    """A public key of a log; a later one has a higher `place`."""

    name: str
    hash: bytes
    public: Ed25519PublicKey
    place: int


class Note(NamedTuple):
    """A checkpoint: `adopted` is up to how many entries what stood before it still counts, and what does not."""

    text: str
    log: str
    size: int
    root: bytes
    signatures: list[tuple[str, bytes]]
    whole: str
    adopted: tuple[int, str] | None


class Findings:
    """Faults and doubts, as they are met."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.doubts: list[str] = []

    def exit_code(self) -> int:
        return 1 if self.faults else 2 if self.doubts else 0


# Hashes.


def leaf_of(text: bytes) -> bytes:
    return hashlib.sha256(b"\x00huqan.audit.v1\n" + text).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows leaf by leaf; it keeps the roots of its complete subtrees."""

    def __init__(self) -> None:
        self.size = 0
        self.peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        node, whole = leaf, self.size
        while whole & 1:
            node, whole = node_of(self.peaks.pop(), node), whole >> 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        node = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            node = node_of(peak, node)
        return node


def root_by_inclusion(leaf: bytes, seq: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that `path` leads to from entry `seq` (RFC 9162 2.1.3.2); None where it does not fit."""
    index, last, node = seq, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            node = node_of(sibling, node)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            node = node_of(node, sibling)
        index, last = index >> 1, last >> 1
    return node if last == 0 and 0 <= seq < size else None


def is_consistent(old: Note, new: Note, path: Sequence[bytes]) -> bool:
    """Whether `path` shows that the tree of `old` is the beginning of that of `new` (RFC 9162 2.1.4.2)."""
    if old.size == new.size:
        return not path and old.root == new.root
    if not 0 < old.size < new.size or not path:
        return False
    siblings = [old.root, *path] if old.size & (old.size - 1) == 0 else list(path)
    index, last = old.size - 1, new.size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    before = after = siblings[0]
    for sibling in siblings[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            before, after = node_of(sibling, before), node_of(sibling, after)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            after = node_of(after, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and (before, after) == (old.root, new.root)


# Keys and checkpoints.


def read_keys(lines: Iterable[str]) -> list[Key]:
    """The keys of `lines` (name+hash+base64), oldest first. Raises: Unreadable."""
    keys = []
    for line in filter(None, (line.strip() for line in lines)):
        name, _, rest = line.partition("+")
        stated, _, text = rest.partition("+")
        try:
            raw = base64.b64decode(text, validate=True)
            public = Ed25519PublicKey.from_public_bytes(raw[1:])
        except ValueError:
            raise Unreadable(f"This is not a key: {line}") from None
        key_hash = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
        if raw[:1] != b"\x01" or key_hash.hex() != stated:
            raise Unreadable(f"This key is not the one that it says it is: {line}")
        keys.append(Key(name, key_hash, public, len(keys)))
    return keys


def key_id(key: Key) -> str:
    """By which name the console's log tells of a key: the RFC 7638 thumbprint, its first 16 characters."""
    x = base64.urlsafe_b64encode(key.public.public_bytes_raw()).rstrip(b"=").decode()
    jwk = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(jwk.encode()).digest()).decode()[:16]


def read_note(whole: str) -> Note:
    """The parts of one checkpoint. Raises: Unreadable."""
    text, gap, tail = whole.rpartition("\n\n")
    signatures = [re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line) for line in tail.splitlines()]
    lines = text.split("\n")
    adopted = re.fullmatch(r"adopted ([0-9]+) ([0-9a-f]{64})", lines[3]) if len(lines) == 4 else None
    try:
        if not gap or not signatures or not (len(lines) == 3 or adopted):
            raise ValueError
        signed = [(match[1], base64.b64decode(match[2], validate=True)) for match in signatures if match]
        root = base64.b64decode(lines[2], validate=True)
        given_up = (int(adopted[1]), adopted[2]) if adopted else None
        return Note(text + "\n", lines[0], int(lines[1]), root, signed, whole, given_up)
    except (ValueError, IndexError):
        raise Unreadable(f"This is not a checkpoint: {whole[:60]!r}") from None


def read_notes(text: str) -> Iterator[Note]:
    """Every whole checkpoint of a file, in its order; what a crash cut short is passed over."""
    body = ""
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        if paragraph.startswith("— "):
            yield read_note(f"{body}\n\n{paragraph}\n")
        body = paragraph


def signer(note: Note, keys: Sequence[Key]) -> Key | None:
    """The newest of `keys` that signed `note`; None where none did, or a signature of one of them is false."""
    found = None
    for key in keys:
        for name, blob in note.signatures:
            if (name, key.name, blob[:4]) == (note.log, note.log, key.hash):
                try:
                    key.public.verify(blob[4:], note.text.encode())
                except InvalidSignature:
                    return None
                found = key
    return found


def signed_notes(notes: Iterable[Note], keys: Sequence[Key], findings: Findings) -> list[Note]:
    """The notes that count: signed, by no key that had been replaced before, and not given up by an adoption."""
    counting: list[Note] = []
    before, newest = None, -1
    if not keys:
        return []
    for note in notes:
        key = signer(note, keys)
        if key is None:
            findings.faults.append(
                f"The checkpoint of {note.size} entries is not signed by a key of this log."
            )
            continue
        if key.place < newest:
            findings.faults.append(
                f"The checkpoint of {note.size} entries is signed by a key that had been replaced before."
            )
        newest = max(newest, key.place)
        if note.adopted:
            agreed, given_up = note.adopted
            if (
                before
                and before.size > agreed
                and given_up != hashlib.sha256(before.whole.encode()).hexdigest()
            ):
                findings.faults.append(
                    f"The checkpoint of {note.size} entries adopts a log that it does not name."
                )
            else:
                counting = [one for one in counting if one.size <= agreed]
        if counting and note.size < counting[-1].size:
            findings.faults.append(
                f"The checkpoint of {note.size} entries stands after that of {counting[-1].size}."
            )
        counting.append(note)
        before = note
    if newest + 1 < len(keys):
        findings.doubts.append(
            "No checkpoint is signed by the newest key: these are from before it, or forged."
        )
    return counting


# An export.


class Export:
    """The files of a folder or a zip."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.zip = zipfile.ZipFile(path) if path.is_file() else None

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a file, without their ends; none where there is no such file."""
        try:
            raw = self.zip.open(name) if self.zip else (self.path / name).open("rb")
        except (KeyError, FileNotFoundError):
            return
        with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line[:-1] if line.endswith("\n") else line


class Walk:
    """One way along the entries: each is held against its neighbours, and each root against what was signed."""

    def __init__(
        self, notes: list[Note], private: dict[int, list[dict[str, Any]]], findings: Findings
    ) -> None:
        self.notes = sorted(notes, key=lambda note: -note.size)  # the next one last
        self.private, self.findings = private, findings
        self.tree: Tree | None = Tree()  # None from the first gap on: no root can be computed then
        self.seq, self.leaf, self.time = 0, GENESIS, ""
        self.log = notes[0].log if notes else None
        self.kids: list[str] = []  # of the keys that entries told of
        self.agreed = 0

    def line(self, line: str) -> None:
        """Walk over one line: an entry, or the place and leaf of one that is not shown."""
        try:
            members = json.loads(line)
            seq = members["seq"]
            hidden = set(members) == {"leaf", "seq"}
            leaf = members["leaf"] if hidden else leaf_of(line.encode()).hex()
            digest = bytes.fromhex(leaf)
        except (ValueError, TypeError, KeyError):
            self.fault(self.seq, "its line is not an entry")
            return
        if seq != self.seq:
            self._gap(seq)
        if not hidden:
            self._entry(members, line)
        self.seq, self.leaf = seq + 1, leaf
        if self.tree is not None:
            self.tree.append(digest)
        self._hold()

    def _gap(self, seq: int) -> None:
        if seq < self.seq:
            self.findings.faults.append(f"Entry {seq} stands after entry {self.seq - 1}.")
        else:
            self.missing(self.seq, seq)
        self.seq, self.leaf, self.tree = seq, "", None

    def missing(self, first: int, stop: int) -> None:
        one = stop == first + 1
        self.findings.faults.append(
            f"Entry {first} is missing." if one else f"Entries {first} to {stop - 1} are missing."
        )

    def fault(self, seq: int, how: str) -> None:
        self.findings.faults.append(f"Entry {seq} was edited: {how}.")

    def _entry(self, members: dict[str, Any], line: str) -> None:
        if self.leaf and members.get("prev") != self.leaf:
            self.fault(max(self.seq - 1, 0), f"entry {self.seq} continues another one")
        self.log = self.log or members.get("log")
        if (members.get("v"), members.get("log")) != (1, self.log):
            self.fault(self.seq, "it is of another log")
        if str(members.get("time")) < self.time:
            self.fault(self.seq, "it says that it was before the entry that precedes it")
        self.time = str(members.get("time"))
        after = members.get("after") or {}
        if members.get("action") == "log.created" or after.get("purpose") == "log":
            self.kids.append(after.get("kid"))
        self._texts(members.get("private") or {})

    def _texts(self, promised: dict[str, str]) -> None:
        for text in self.private.get(self.seq, ()):
            salted = b"huqan.redact.v1\x00" + bytes.fromhex(text["salt"]) + text["text"].encode()
            if promised.get(text["name"]) != hashlib.sha256(salted).hexdigest():
                self.fault(self.seq, f"its private text {text['name']} is not the one that it commits to")

    def _hold(self) -> None:
        """Hold the root against the checkpoints of this size; it is computed for those only."""
        while self.notes and self.notes[-1].size <= self.seq:
            note = self.notes.pop()
            if self.tree is None or note.size < self.seq:
                continue
            if (note.root, note.log) == (self.tree.root(), self.log or note.log):
                self.agreed = note.size
            elif not self.findings.faults:
                self.findings.faults.append(
                    f"Of entries {self.agreed} to {note.size - 1} at least one was replaced: "
                    f"the checkpoint of {note.size} entries was signed over others."
                )

    def finish(self, keys: Sequence[Key]) -> None:
        """Hold the end against what was signed over more, and the keys against what the log told of them."""
        longest = max((note.size for note in self.notes), default=0)
        if longest > self.seq:
            self.missing(self.seq, longest)
        if self.tree is None or not self.agreed:
            self.findings.doubts.append("No checkpoint could be held against these entries.")
        known = [key_id(key) for key in keys]
        for kid in self.kids:
            if kid and kid not in known:
                self.findings.doubts.append(f"The log tells of the key {kid}, which was not given.")


def check_export(path: Path, checkpoints: Path | None, trusted: list[str], findings: Findings) -> int:
    """Walk over every line of an export; return how many entries it has. Raises: Unreadable."""
    export = Export(path)
    keys = read_keys(trusted or export.lines(KEYS))
    if not keys:
        findings.doubts.append("No key was given: no checkpoint can be believed.")
    text = checkpoints.read_text("utf-8") if checkpoints else "\n".join(export.lines(CHECKPOINTS)) + "\n"
    private: dict[int, list[dict[str, Any]]] = {}
    for line in export.lines(PRIVATE):
        item = json.loads(line)
        if item.get("text") is not None:
            private.setdefault(item["seq"], []).append(item)
    walk = Walk(signed_notes(read_notes(text), keys, findings), private, findings)
    for line in export.lines(ENTRIES):
        walk.line(line)
        if walk.seq % EVERY == 0:
            print(f"{walk.seq} entries walked", file=sys.stderr)
    walk.finish(keys)
    return walk.seq


# A proof.


def check_proof(path: Path, trusted: list[str], findings: Findings) -> str:
    """Check a proof and return, in words, of what it is one. Raises: Unreadable."""
    try:
        proof = json.loads(path.read_text("utf-8"))
        keys = read_keys(trusted or proof.get("keys", ()))
        nodes = [bytes.fromhex(node) for node in proof["path"]]
        if "old" in proof:
            old, new = _believed(proof["old"], keys, findings), _believed(proof["checkpoint"], keys, findings)
            if not is_consistent(old, new, nodes):
                findings.faults.append("The older log is not the beginning of the newer one.")
            return f"the log of {old.size} entries is the beginning of the log of {new.size}"
        note, entry = _believed(proof["checkpoint"], keys, findings), proof["entry"]
        seq, leaf = json.loads(entry)["seq"], leaf_of(entry.encode())
        if root_by_inclusion(leaf, seq, note.size, nodes) != note.root:
            findings.faults.append(f"Entry {seq} is not in the log of {note.size} entries that was signed.")
        return f"entry {seq} is in the log of {note.size} entries"
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreadable("This is not a proof.") from None


def _believed(text: str, keys: Sequence[Key], findings: Findings) -> Note:
    note = read_note(text)
    if not keys:
        findings.doubts.append("No key was given: the checkpoint cannot be believed.")
    elif signer(note, keys) is None:
        findings.faults.append(f"The checkpoint of {note.size} entries is not signed by a key of this log.")
    return note


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names, say what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check an export of the audit log, or a proof from it.")
    parser.add_argument("path", type=Path, help="a folder, a zip or a proof")
    parser.add_argument(
        "--checkpoints", type=Path, help="what was sent to you, instead of those in the export"
    )
    parser.add_argument(
        "--key", action="append", default=[], help="a key that you trust, instead of those inside"
    )
    given = parser.parse_args(arguments)
    findings = Findings()
    try:
        if given.path.suffix == ".json":
            said = "Ok: " + check_proof(given.path, given.key, findings)
        else:
            size = check_export(given.path, given.checkpoints, given.key, findings)
            said = f"Ok: {size} entries, every one walked"
            if size == 0:
                findings.doubts.append("There are no entries.")
    except (Unreadable, OSError, UnicodeDecodeError, ValueError, zipfile.BadZipFile) as error:
        print(f"Cannot judge: {error}")
        return 2
    verdict = (said, f"Fault: {len(findings.faults)} found", "Cannot judge")[findings.exit_code()]
    print(f"{verdict}.")
    for sentence in findings.faults[:SHOWN] + findings.doubts:
        print(f"  {sentence}")
    if not given.key:
        print("  The keys came with it: ask for them some other way, and give them by --key.")
    return findings.exit_code()


if __name__ == "__main__":
    sys.exit(main())
