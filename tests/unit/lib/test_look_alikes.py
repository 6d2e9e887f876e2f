"""The table of look-alikes is ours; Unicode's list of confusables is asked for a second opinion."""

import unicodedata

from confusable_homoglyphs import confusables

from huqan_site.lib.look_alikes import LETTERS, SIGNS, script


def test_a_look_alike_is_a_letter_of_another_script_that_passes_for_an_ascii_letter():
    for letter, twin in LETTERS.items():
        assert unicodedata.category(letter)[0] == "L"
        assert script(letter) not in (None, "LATIN")
        assert twin.isascii()
        assert twin.isalpha()


def test_unicode_agrees_about_most_of_them():
    agreed = [
        letter
        for letter in LETTERS
        if any(form["c"].isascii() for form in confusables.confusables_data.get(letter, []))
    ]
    assert len(agreed) > 0.9 * len(LETTERS)


def test_no_sign_of_proper_typography_is_suspect():
    assert not set("–—−‐‑“”‘’…·•°×÷€№«»") & set(SIGNS)


def test_scripts_are_told_by_name_and_east_asian_ones_are_one():
    assert [script(letter) for letter in "aжαあ漢한"] == ["LATIN", "CYRILLIC", "GREEK", "CJK", "CJK", "CJK"]
    assert [script(letter) for letter in "1.µª𝐚"] == [None] * 5
