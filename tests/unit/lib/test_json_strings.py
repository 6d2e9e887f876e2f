"""Every string of a JSON value is looked at, and has an address."""

from types import MappingProxyType

from huqan_site.lib.json_strings import strings


def test_every_string_and_key_has_its_pointer():
    value = {"a": ["x", {"b/c": "y"}], "d~": 1, "e": None}
    assert list(strings(value)) == [
        ("/a#", "a"),
        ("/a/0", "x"),
        ("/a/1/b~1c#", "b/c"),
        ("/a/1/b~1c", "y"),
        ("/d~0#", "d~"),
        ("/e#", "e"),
    ]


def test_a_bare_string_has_the_empty_pointer():
    assert list(strings("x")) == [("", "x")]


def test_no_kind_of_mapping_or_sequence_hides_its_text():
    assert list(strings(MappingProxyType({"a": ("x",)}))) == [("/a#", "a"), ("/a/0", "x")]
