"""An agent finds what was written, however it is spelled."""

import itertools
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.tokens import LANGUAGES, detect_language, fold, query_terms, tokenise

TEXT = st.text() | st.text(st.sampled_from("İIıiŞşçÖ ğe'’.7v-_\u0301\u0323ﬁ²Ⅷß"))


def finds(query: str, record: str, lang: str | None = None) -> bool:
    return bool(set(query_terms(query)) & set(tokenise(record, lang)))


@pytest.mark.parametrize(
    "written", ["İstanbul", "ISTANBUL", "istanbul", "ıstanbul", "İSTANBUL", "İstanbul'da"]
)
@pytest.mark.parametrize("asked", ["istanbul", "İstanbul", "ISTANBUL", "Istanbul’un"])
@pytest.mark.parametrize("lang", ["en", "tr"])
def test_every_spelling_of_istanbul_finds_every_other(written, asked, lang):
    assert finds(asked, f"The office is in {written} now", lang)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("cafe", "Café"),
        ("CAFÉ", "cafe\u0301"),
        ("sifre", "şifre"),
        ("Şifre", "SIFRE"),
        ("file", "ﬁle"),
        ("strasse", "Straße"),
    ],
)
def test_accents_case_and_ligatures_do_not_matter(asked, written):
    assert finds(asked, written)


@pytest.mark.parametrize("word", ["7443", "v1.2.3", "3.14", "10.0.0.1", "sha256"])
def test_numbers_and_versions_stay_whole(word):
    assert tokenise(f"It runs {word}.", "en") == ["run", word]


def test_numbers_and_keys_are_of_no_language():
    assert query_terms("sha256 7443") == ("7443", "sha256")
    assert finds("sha256", "sha256", "tr")
    assert finds("sha256", "sha256", "en")


def test_one_digit_off_is_not_found():
    assert finds("7443", "The staging port is 7443.")
    assert not finds("7444", "The staging port is 7443.")
    assert not finds("443", "The staging port is 7443.")


def test_an_address_is_found_by_its_parts():
    assert tokenise("bob.smith@example.org", "en") == ["bob", "smith", "exampl", "org"]


def test_endings_after_an_apostrophe_are_dropped_and_names_kept():
    assert tokenise("O'Brien's port, 7443'ten, doesn't", "en") == ["o", "brien", "port", "7443"]


def test_quoted_words_are_words():
    assert tokenise("the 'da' flag", "en") == ["da", "flag"]


def test_english_forms_of_a_word_meet():
    assert finds("deploying databases", "We deploy the database on Friday.")


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("kitap", "kitaplar"),
        ("kitabın", "kitapları"),
        ("sunucu", "sunucular"),
        ("sunucunun", "sunucuda"),
        ("evlerimizde", "ev"),
        ("güller", "gülün"),
        ("guller", "gülün"),
        ("sınırlar", "sinirin"),
        ("yazılımlar", "yazılımın"),
        ("müşterilerimiz", "musterinin"),
    ],
)
def test_turkish_forms_of_a_word_meet_also_when_typed_without_its_letters(asked, written):
    assert finds(asked, written, "tr")
    assert finds(written, asked, "tr")


def test_a_name_is_not_stemmed_to_a_single_letter():
    assert tokenise("Ayşe bina", "tr") == ["tr:ayse", "tr:bina"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_turkish_reading_of_an_english_word_finds_nothing_in_english(lang):
    assert tokenise("maintenance", "tr") == ["tr:main"]
    assert set(query_terms("maintenance", lang)).isdisjoint(tokenise("the main port", "en"))
    assert finds("maintenance", "The maintenance window", "en")


@pytest.mark.parametrize(
    ("words", "lang"), [("it is the one that was", "en"), ("bu ve şey için", "tr"), ("?! -- ...", "en")]
)
def test_stop_words_and_signs_alone_are_no_terms(words, lang):
    assert query_terms(words.replace("one", "")) == ()
    assert tokenise(words.replace("one", ""), lang) == []


def test_a_stop_word_of_the_other_language_is_a_word():
    assert finds("who is Ben", "Ben owns the budget")
    assert tokenise("Ben", "tr") == []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("The staging port is 7443.", "en"),
        ("Sunucunun portu 7443 olarak ayarlandı.", "tr"),
        ("Sunucularin yedekleri alindi", "tr"),
        ("Yedekleme bitti, şifre değişti", "tr"),
        ("The meeting with Ayşe Yılmaz is in İstanbul", "en"),
        ("controller scheduler dollar", "en"),
        ("7443", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_detected(text, lang):
    assert detect_language(text) == lang


def test_repeats_count_in_a_record_and_not_in_a_query():
    assert tokenise("port port", "en") == ["port", "port"]
    assert query_terms("port Port ports") == query_terms("ports port port")


@settings(deadline=None)
@given(TEXT, st.sampled_from(LANGUAGES))
def test_a_record_is_found_by_its_own_text(text, lang):
    assert set(tokenise(text, lang)) <= set(query_terms(text, lang))


@settings(deadline=None)
@given(TEXT, st.sampled_from(LANGUAGES))
def test_tokens_can_be_stored_with_a_space_between(text, lang):
    tokens = tokenise(text, lang)
    assert " ".join(tokens).split() == tokens


@settings(deadline=None)
@given(TEXT)
def test_folding_a_second_time_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


HOSTILE = ["a", "ı", "'", "a'", "1.", "v1.2.", "\ufdfa", "lari ", "yor", "aA1_", "İ", "ae", "\u0300\u0316"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(unit):
    """Seconds of this thread. Linear takes one for 128 KiB (1 MiB of marks, hard for NFKD), quadratic minutes."""
    size = 1024 * 1024 if unit == HOSTILE[-1] else 128 * 1024
    text = "a" + unit * (size // len(unit.encode()))
    begin = time.thread_time()
    tokenise(text)
    query_terms(text)
    assert time.thread_time() - begin < 30


@pytest.fixture
def impatient_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("impatient_threads")
def test_agents_who_ask_at_the_same_moment_do_not_disturb_each_others_words():
    words = [
        "".join(letters) + "ations" for letters in itertools.product("bdfg", "aeiou", "klmn", "aeiou", "rst")
    ]
    with ThreadPoolExecutor(8) as agents:
        stemmed = list(agents.map(lambda word: tokenise(word, "en"), words))
    stemmer = snowballstemmer.stemmer("english")
    assert stemmed == [[stemmer.stemWord(word)] for word in words]
