"""A rejected value does not come back in other dress, and no other value is taken for it."""

import json
import unicodedata
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from huqan_site.lib.look_alikes import LETTERS, script
from memory.domain.normalise import key, normalised

CASES = json.loads((Path(__file__).parents[2] / "data" / "tombstone_key.json").read_text())
ACME, GLOBEX = UUID(int=1), UUID(int=2)
SECRET = b"s" * 32
PORT = "The staging port is 7443."

texts = st.text() | st.text(
    alphabet="aZßıİiI\u0307.,!?\"'([ \t\u00a0\u00ad\u200b\ufeff\u0301"
    "\u030c\ufe0f\uff17\u2460x²₂½ﬁµμαΜονаеоНвһ7…«」\u1d2c\U000e0061"
)


@pytest.mark.parametrize("pair", CASES["same"])
def test_a_shared_pair_of_spellings_has_one_key(pair):
    assert key(ACME, pair[0], SECRET) == key(ACME, pair[1], SECRET)


@pytest.mark.parametrize("pair", CASES["different"])
def test_a_shared_pair_of_values_has_two_keys(pair):
    assert key(ACME, pair[0], SECRET) != key(ACME, pair[1], SECRET)


@pytest.mark.parametrize(
    "dressed",
    [
        "  (the staging port is 7443)  ",
        "«The staging port is 7443»!?",
        "...The staging port is 7443…",
        "Тһе ѕtаgіng роrt іѕ 7443",
        "THE\nSTAGING\r\n\tPORT IS 7443",
        "𝐓𝐡𝐞 staging port is ７４４３",
        "T\U000e0068he sta\u2060ging po\ufe0frt is 7443.",
        "\u202eThe staging port is 7443\u202c",
    ],
)
def test_the_rejected_port_does_not_come_back_in_other_dress(dressed):
    assert normalised(dressed) == normalised(PORT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x²", "x2"), ("H₂O", "H2O"), ("1½ hours", "11⁄2 hours"), (".5", "5"), ("5 μm", "5 mm"), ("10 Ω", "10 O"),
        ("α = 1", "a = 1"), ("O", "0"), ("l", "1"), ("7443", "٧٤٤٣"), ("a<b", "a>b"), ("no", "on"), ("на", "не"),
        ("һин", "нин"), ("үй", "уй"), ("versions 1, 2", "versions 1 2"), ("C", "C++"), ("!", "?"),
        ("We deploy on Friday", "We never deploy on Friday"),
    ],
)  # fmt: skip
def test_what_differs_in_substance_stays_apart(one, other):
    assert normalised(one) != normalised(other)


@pytest.mark.parametrize("spelling", ["İstanbul", "ISTANBUL", "ıstanbul", "i̇stanbul", "İSTANBUL".lower()])
def test_the_turkish_i_is_one_letter(spelling):
    assert normalised(spelling) == "istanbul"


def test_case_is_one_for_other_scripts_too():
    for word in ("Москва", "НЕТ", "Μένω", "Վահան", "Ωμέγα"):
        assert normalised(word) == normalised(word.upper()) == normalised(word.lower())


def test_no_two_letters_of_one_script_are_joined():
    joined: dict[tuple[str | None, str], set[str]] = {}
    for letter in map(chr, range(0x370, 0x30000)):
        if unicodedata.category(letter) == "Ll" and unicodedata.normalize("NFKC", letter) == letter:
            word = normalised(letter * 2)
            if word.isascii() and script(letter) != "LATIN":
                joined.setdefault((script(letter), word), set()).add(letter.casefold())
    assert len(joined) > 30
    assert all(len(letters) == 1 for letters in joined.values())


def test_most_look_alikes_are_undone():
    undone = [letter for letter in LETTERS if normalised(f"x{letter}") == f"x{LETTERS[letter].casefold()}"]
    assert len(undone) >= len(LETTERS) - 6


def test_what_is_nothing_but_signs_keeps_them():
    assert normalised("...") == "..."
    assert normalised("“”") == "“”"
    assert normalised(" \u200b\u00ad\ufeff ") == ""


def test_a_key_is_of_one_workspace_and_one_secret():
    keys = {key(ACME, PORT, SECRET), key(GLOBEX, PORT, SECRET), key(ACME, PORT, b"t" * 32)}
    assert len(keys) == 3
    assert all(len(one) == 64 for one in keys)


def test_a_key_does_not_change_between_releases():
    assert key(ACME, PORT, SECRET) == "7bc154867527fe117d812749881cc7ad3ca39834e56e6af459288d96f500b717"


@given(texts)
def test_normalising_twice_changes_nothing(text):
    assert normalised(normalised(text)) == normalised(text)


@given(texts)
def test_what_is_hidden_or_spaced_otherwise_makes_no_difference(text):
    assume(not any(unicodedata.combining(character) for character in text))
    assert normalised("\u200b".join(text)) == normalised(text)
    assert normalised(f" \u00a0{text}\n") == normalised(text)


WORDS = ["we", "may", "deploy", "it", "on", "port", "friday", "C++", "10%", "-5", "of", "v1.2", "the"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


@given(sentences, st.integers(0, 8), st.sampled_from(["not", "never", "1", "değil", "no"]))
def test_an_inserted_word_always_makes_another_value(words, place, word):
    assert normalised(" ".join(words)) != normalised(" ".join([*words[:place], word, *words[place:]]))


@given(sentences, st.integers(0, 10**12), st.integers(0, 10**12))
def test_another_number_always_makes_another_value(words, one, other):
    assume(one != other)
    assert normalised(f"{' '.join(words)} {one}") != normalised(f"{' '.join(words)} {other}")


@given(texts, st.integers(0, 100), st.sampled_from("0123456789"))
def test_a_digit_more_or_another_one_always_makes_another_value(text, place, digit):
    longer = text[:place] + digit + text[place:]
    assert normalised(longer) != normalised(text)
    other = text[:place] + str((int(digit) + 1) % 10) + text[place:]
    assert normalised(other) != normalised(longer)


@given(
    st.text(alphabet=st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"])),
    st.text(alphabet=st.characters(codec="ascii", categories=["Lu", "Ll", "Nd"])),
)
def test_ascii_letters_and_digits_never_merge(one, other):
    assert (normalised(one) == normalised(other)) == (one.casefold() == other.casefold())
