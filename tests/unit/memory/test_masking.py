"""A secret is said in words, and never stands in a page."""

from __future__ import annotations

from memory.domain.masking import masked, masked_value

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
TEXT = f"The key is {KEY}, and the port is 7443."


def test_a_secret_is_replaced_by_what_it_is_and_the_rest_stays() -> None:
    shown = masked(TEXT)
    assert KEY not in shown.text
    assert shown.is_masked
    assert shown.text.startswith("The key is [") and shown.text.endswith("], and the port is 7443.")


def test_a_text_without_a_secret_is_shown_as_it_is() -> None:
    assert masked("The port is 7443.") == ("The port is 7443.", (), ())


def test_a_place_after_a_secret_moves_with_its_text() -> None:
    shown = masked(TEXT)
    start = TEXT.index("port")
    assert shown.text[shown.place(start) : shown.place(start + 4)] == "port"
    assert shown.place(3) == 3


def test_a_place_inside_a_secret_becomes_its_beginning() -> None:
    shown = masked(TEXT)
    assert shown.place(TEXT.index(KEY) + 5) == shown.text.index("[")


def test_the_whole_secret_becomes_all_of_its_words() -> None:
    shown = masked(TEXT)
    (secret,) = shown.secrets
    assert shown.text[shown.place(secret.start) : shown.place(secret.end)] == shown.words[0]


def test_every_string_of_a_value_is_masked() -> None:
    value = {"content": TEXT, "provenance": {"derived_from": [KEY], "confidence": 1}}
    assert KEY not in str(masked_value(value))
    assert masked_value(value)["provenance"]["confidence"] == 1
