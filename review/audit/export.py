"""The log as lines that anybody can check again, without showing them what is not theirs.

A line is an entry's canonical text, or `{"leaf":…,"seq":…}` where the reader may not see it or did not ask
for it. Every entry has its line, so the whole chain and the root of a checkpoint can be computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from django.db.models import Case, F, Q, TextField, Value, When

from huqan_site.lib.canonical_json import canonical
from review.audit import queries
from review.audit.models import Entry, PrivateText
from review.audit.queries import EVERYTHING, Filters, Scope
from review.audit.stretches import stretches

CHUNK = 1000


def lines(scope: Scope | None, filters: Filters = EVERYTHING, *, stop: int | None = None) -> Iterator[str]:
    """One line an entry, in order, up to and without entry `stop` (the end as it is now).

    Without a scope every entry is whole: for the operator's command alone.
    """
    whole = _whole(scope, filters)
    first, stop = 0, queries.size() if stop is None else stop
    while first < stop:
        chunk = Entry.objects.filter(seq__gte=first, seq__lt=min(first + CHUNK, stop)).order_by("seq")
        for seq, leaf, text in chunk.values_list("seq", "leaf", whole):
            yield text or canonical({"leaf": leaf, "seq": seq})
        first += CHUNK


def texts(scope: Scope | None, filters: Filters = EVERYTHING, *, stop: int) -> Iterator[str]:
    """What people wrote for the entries that `lines` gives whole, one text a line; an erased one is null."""
    for some in stretches(PrivateText.objects.filter(seq__lt=stop)):
        about = Entry.objects.filter(seq__in={text.seq for text in some}).filter(_shown(scope, filters))
        shown = set(about.values_list("seq", flat=True))
        yield from (_text(text) for text in some if text.seq in shown)


def _text(one: PrivateText) -> str:
    salt = None if one.salt is None else bytes(one.salt).hex()
    return canonical({"name": one.name, "salt": salt, "seq": one.seq, "text": one.text})


def _whole(scope: Scope | None, filters: Filters) -> Case:
    """SQL for the text of an entry that is shown, else NULL."""
    return Case(
        When(_shown(scope, filters), then=F("canonical")),
        default=Value(None),
        output_field=TextField(),
    )


def _shown(scope: Scope | None, filters: Filters) -> Q:
    visible = reduce(or_, scope.parts(), Q(pk__in=())) if scope else Q(seq__gte=0)
    return visible & filters.condition()
