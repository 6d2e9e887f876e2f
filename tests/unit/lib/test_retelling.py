"""The domain's English sentences, said in another language where a page shows them."""

from __future__ import annotations

import time

import pytest

from huqan_site.lib.retelling import MAX_TEXT, Retelling

TURKISH = Retelling(
    [
        ("You own %(agent)s.", "%(agent)s ajanının sahibisiniz."),
        ("%(reason)s Someone else must approve.", "%(reason)s Başka biri onaylamalı."),
        ("Nothing runs.", "Hiçbir şey çalışmaz."),
        ("Read it. Decide then.", "Okuyup karar verin."),
        ("Remember: %(content)s", "Hatırla: %(content)s"),
        ("At most 5 %% of %(count)s", "%(count)s içinden en çok %%5"),
        (
            "Your %(role)s role is older than revision %(revision)s",
            "%(role)s rolünüz revizyon %(revision)s öncesinden",
        ),
        ("reviewer", "gözden geçiren"),
        ("Call %(sized)s", "Çağır: %(sized)s"),
        ("Call %(sized)s: %(named)s", "Çağır: %(sized)s: %(named)s"),
        ("%(tool)s with %(count)s values", "%(tool)s, %(count)s değerle"),
        ("%(last)s does.", "%(last)s bu grupta."),
        ("owner", "sahip"),
        ("Not independent: %(join)s.", "Bağımsız değil: %(join)s."),
        ("Role too new", "Rol çok yeni"),
    ],
    within=["join", "reason", "role", "sized"],
)


@pytest.mark.parametrize(
    ("english", "turkish"),
    [
        ("Nothing runs.", "Hiçbir şey çalışmaz."),
        ("Role too new.", "Rol çok yeni."),
        ("Call a.b with 2 values: to x", "Çağır: a.b, 2 değerle: to x"),
        ("carol does.", "carol bu grupta."),
        ("Not independent: bob (owner), dana (owner).", "Bağımsız değil: bob (sahip), dana (sahip)."),
        ("You own scout.", "scout ajanının sahibisiniz."),
        ("You own scout. Someone else must approve.", "scout ajanının sahibisiniz. Başka biri onaylamalı."),
        ("You own scout. Nothing runs.", "scout ajanının sahibisiniz. Hiçbir şey çalışmaz."),
        ("Nothing runs. Read it. Decide then.", "Hiçbir şey çalışmaz. Okuyup karar verin."),
        ("At most 5 % of 9", "9 içinden en çok %5"),
        ("Your reviewer role is older than revision 3", "gözden geçiren rolünüz revizyon 3 öncesinden"),
    ],
)
def test_what_the_domain_can_say_is_said_again(english: str, turkish: str) -> None:
    assert TURKISH.of(english) == turkish


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Something new.",
        "nothing runs.",
        "Nothing runs",
        "Kaydedilmedi. Olmadı.",
        "What nobody of this house wrote before does.",
    ],
)
def test_what_it_cannot_say_stays_as_it_is(text: str) -> None:
    assert TURKISH.of(text) == text


def test_words_of_others_inside_a_sentence_are_never_told_again() -> None:
    assert TURKISH.of("Remember: Nothing runs.") == "Hatırla: Nothing runs."
    assert TURKISH.of("You own reviewer.") == "reviewer ajanının sahibisiniz."


def test_a_long_text_stays_as_it_is_and_costs_nothing() -> None:
    began = time.perf_counter()
    long = "You own " * MAX_TEXT
    assert TURKISH.of(long) == long
    many = ". ".join("a" for _ in range(MAX_TEXT // 3))
    assert TURKISH.of(many) == many
    assert time.perf_counter() - began < 2
