"""Entries of the log as a reader in a hurry sees them: who did what, on what, in our words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.urls import NoReverseMatch, reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from review.access import wording
from review.audit import proofs
from review.audit.chain import verify_inclusion
from review.audit.checkpoints import newest
from review.audit.queries import private_texts
from review.queries.story import summaries as summaries_of

if TYPE_CHECKING:
    from review.audit.models import Entry

REFUSED = {"decision.refused", "proposal.refused", "permit.refused", "sign_in.failed", "step_up.failed"}


def lines(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the rows of templates/audit/list.html, without their links."""
    summaries = _summaries(entries)
    return [line(entry, summaries) for entry in entries]


def line(entry: Entry, summaries: Mapping[str, str] | None = None) -> dict[str, Any]:
    members = json.loads(entry.canonical)
    actor = members["actor"]
    at = moment(members)
    summaries = _summaries([entry]) if summaries is None else summaries
    return {
        "seq": entry.seq,
        "at": at,
        "day": date_format(at, "j M"),
        "who": actor.get("account") or _("somebody unknown"),
        "role": _kind(actor["kind"]),
        "action": members["action"],
        "refused": members["action"] in REFUSED,
        "what": _what(members, summaries),
        "on": _on(members),
        "on_url": _page_of(members.get("object")),
    }


def _kind(kind: str) -> str:
    """Return in words what acted, where it is no person."""
    return {"person": "", "agent": _("agent"), "system": _("system")}[kind]


def moment(members: Mapping[str, Any]) -> datetime:
    return datetime.strptime(members["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def detail(entry: Entry) -> dict[str, Any]:
    """Return templates/components/audit_entry.html's context: the bytes, their place and the proof of it."""
    checkpoint = newest()
    proof = (
        proofs.inclusion(entry.seq, checkpoint.size) if checkpoint and entry.seq < checkpoint.size else None
    )
    return {
        "seq": entry.seq,
        "canonical": entry.canonical,
        "bytes": len(entry.canonical.encode()),
        "leaf": entry.leaf,
        "prev": json.loads(entry.canonical)["prev"],
        "prev_seq": entry.seq - 1 if entry.seq else None,
        "proof": [node.hex() for node in proof.path] if proof else None,
        "tree_size": proof.root.size if proof else None,
        "proved": verify_inclusion(proof.leaf, proof.seq, proof.root.size, proof.path, proof.root.hash)
        if proof
        else None,
        "url": reverse("audit_entry", args=[entry.seq]),
        "links": _links(entry, json.loads(entry.canonical)),
        "texts": texts([entry.seq])[entry.seq],
        "proof_url": reverse("audit_proof", args=[entry.seq]) if proof else None,
    }


def texts(entries: Iterable[int]) -> Mapping[int, list[dict[str, Any]]]:
    """Return what people wrote for each of the entries, erased or not, as the pages of entries show it."""
    return {
        seq: [{"name": name, "text": text or "", "erased": text is None} for name, text in written.items()]
        for seq, written in private_texts(entries).items()
    }


#: Where each kind of object has its page, by the name of its address.
PAGES = {"proposal": "proposal", "record": "memory_record", "agent": "agent", "person": "person"}


def _page_of(subject: Mapping[str, Any] | None) -> str | None:
    """Return the address of what was acted on, or None where it has no page of its own."""
    return _known(PAGES.get(subject["type"]), subject["id"]) if subject else None


def _links(entry: Entry, members: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the pages of all that an entry is about, and how its proposal came and went."""
    actor, subject = members["actor"], members.get("object")
    places = [
        (_("Follow this proposal"), _known("audit_life", entry.proposal)),
        (_("The proposal"), _known("proposal", entry.proposal)),
        (_("The record"), _page_of(subject) if subject and subject["type"] == "record" else None),
        (_("The agent"), _known("agent", entry.agent)),
        (_("The person"), _known("person", actor.get("person"))),
        (
            _("The person it was done to"),
            _page_of(subject) if subject and subject["type"] == "person" else None,
        ),
    ]
    return [(label, url) for label, url in places if url]


def _known(name: str | None, id_: str | None) -> str | None:
    """Return the address of the page `name` of `id_`, or None where one of them is none: an entry is never refused."""
    try:
        return reverse(name, args=[id_]) if name and id_ else None
    except NoReverseMatch:
        return None


def _summaries(entries: Sequence[Entry]) -> Mapping[str, str]:
    """Return our one-line summary of each proposal that the entries are about."""
    return summaries_of(UUID(str(entry.proposal)) for entry in entries if entry.proposal)


def _what(members: Mapping[str, Any], summaries: Mapping[str, str]) -> str:
    before, after = members.get("before", {}), members.get("after", {})
    subject = members.get("object", {})
    told = [wording.said(summaries.get(str(subject.get("id")), ""))]
    if "code" in after:
        told.append(after["code"].replace("_", " "))
    if "status" in before and "status" in after:
        told.append(
            _("from %(old)s to %(new)s")
            % {"old": wording.said(before["status"]), "new": wording.said(after["status"])}
        )
    if "revision" in subject:
        told.append(_("revision %(n)d") % {"n": subject["revision"]})
    return ", ".join(part for part in told if part) or str(after.get("tool", ""))


def _on(members: Mapping[str, Any]) -> str:
    subject = members.get("object")
    if not subject:
        return _("log") if members["action"].startswith(("audit.", "log.")) else ""
    return f"{_type(subject['type'])} {str(subject['id'])[-4:]}" if subject["type"] != "log" else _("log")


def _type(name: str) -> str:
    """Return in words what kind of thing was acted on."""
    return {
        "account": _("account"),
        "agent": _("agent"),
        "conflict": _("conflict"),
        "erasure": _("erasure"),
        "import": _("import"),
        "key": _("key"),
        "person": _("person"),
        "policy": _("policy"),
        "proposal": _("proposal"),
        "record": _("record"),
        "token": _("token"),
        "tombstone": _("tombstone"),
        "webhook": _("webhook"),
    }.get(name, name)
