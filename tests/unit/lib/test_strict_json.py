"""A body has one meaning or none, and no body is too strange to be refused."""

import base64
import contextlib
import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.strict_json import MAX_BYTES, MAX_STRING_BYTES, Unreadable, read

BODIES = json.loads((Path(__file__).parents[2] / "data" / "refused_bodies.json").read_text())["bodies"]


def code_of(body: bytes | str) -> str:
    with pytest.raises(Unreadable) as refusal:
        read(body.encode() if isinstance(body, str) else body)
    return refusal.value.code


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["id"])
def test_a_body_of_the_shared_cases_is_refused_with_its_code(body):
    assert code_of(base64.b64decode(body["raw_b64"])) == body["code"]


def test_an_agent_reads_back_what_it_sent():
    sent = '{"text":"İstanbul \\ud83d\\ude00 e\\u0301","n":[0,-1,0.1,1e2,4.50],"yes":true,"none":null,"o":{}}'
    assert read(sent.encode()) == json.loads(sent)


def test_text_is_neither_cut_nor_normalised():
    assert read('{"a":"cafe\u0301 \u202e\u200b "}'.encode()) == {"a": "cafe\u0301 \u202e\u200b "}


@pytest.mark.parametrize(
    "body", ["", "null", "[]", '"a"', "1", "{", '{"a"}', '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":+1}']
)
def test_what_is_not_one_object_is_malformed(body):
    assert code_of(body) == "malformed"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_another_encoding_is_malformed(encoding):
    assert code_of('{"a":1}'.encode(encoding)) == "malformed"


def test_a_raw_control_character_is_malformed():
    assert code_of('{"a":"\n"}') == "malformed"


def test_a_surrogate_pair_is_a_character_and_half_of_one_is_not():
    assert read(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}
    assert code_of('{"a":"\\ude00\\ud83d"}') == "forbidden_character"
    assert code_of('{"\\ud83d":1}') == "forbidden_character"
    assert code_of('{"a":[{"b":["\\u0000"]}]}') == "forbidden_character"


def test_the_same_key_in_two_objects_is_fine_and_twice_in_one_is_not():
    assert read(b'{"a":{"a":1},"b":{"a":1}}')
    assert code_of('{"b":{"a":1,"a":1}}') == "duplicate_key"
    assert code_of('{"\u00e9":1,"\\u00e9":1}') == "duplicate_key"


def test_two_spellings_that_only_look_the_same_are_two_keys():
    assert len(read('{"\u00e9":1,"e\u0301":1}'.encode())) == 2


def test_the_key_that_poisons_javascript_is_forbidden_at_any_depth_and_in_any_spelling():
    assert code_of('{"a":[{"__proto__":1}]}') == "forbidden_key"
    assert code_of('{"\\u005f_proto__":1}') == "forbidden_key"
    assert read(b'{"a":"__proto__"}')


@pytest.mark.parametrize(
    "number", ["9007199254740991", "-9007199254740991", "9007199254740991.0", "9.007199254740991e15", "-0"]
)
def test_the_largest_integers_are_read_in_any_notation(number):
    assert read(f'{{"a":{number}}}'.encode())["a"] == float(number)


@pytest.mark.parametrize(
    "number",
    [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740992.0",
        "9.007199254740993e15",
        "1e21",
        "1E+300",
        "1" * 5000,
    ],
)
def test_an_integer_that_readers_round_must_come_as_a_string(number):
    assert code_of(f'{{"a":{number}}}') == "integer_out_of_range"
    assert read(f'{{"a":"{number}"}}'.encode()) == {"a": number}


@pytest.mark.parametrize(
    "number", ["0.1", "1e-7", "4.50", "0.30000000000000004", "5e-324", "0e99999", "1e00002", "-0.0"]
)
def test_a_number_whose_shortest_form_is_equal_is_read(number):
    assert read(f'{{"a":{number}}}'.encode())["a"] == float(number)


@pytest.mark.parametrize(
    "number",
    ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "1e999999999", "1e-999999999",
     "0.1000000000000000055", "3.14159265358979323846", "9007199254740991.4", "1e" + "9" * 5000],
)  # fmt: skip
def test_a_number_that_binary64_changes_is_inexact(number):
    assert code_of(f'{{"a":{number}}}') == "inexact_number"


def test_each_limit_is_read_and_one_more_is_refused():
    assert read(nested(32).encode())
    assert code_of(nested(33)) == "too_large"
    assert read(('{"a":[' + ",".join(["0"] * 9_998) + "]}").encode())
    assert code_of('{"a":[' + ",".join(["0"] * 9_999) + "]}") == "too_large"
    assert read(('{"a":"' + "x" * MAX_STRING_BYTES + '"}').encode())
    assert code_of('{"a":"' + "x" * (MAX_STRING_BYTES + 1) + '"}') == "too_large"


def test_keys_are_no_values_but_are_strings():
    assert len(read(json.dumps({f"k{i}": i for i in range(9_999)}).encode())) == 9_999
    assert code_of('{"' + "x" * (MAX_STRING_BYTES + 1) + '":1}') == "too_large"


def test_a_string_is_measured_in_utf_8_and_not_by_its_escapes():
    turkish = "ı" * (MAX_STRING_BYTES // 4)
    escaped = json.dumps({"a": turkish})
    assert len(escaped) > MAX_STRING_BYTES
    assert read(escaped.encode()) == {"a": turkish}
    assert code_of(json.dumps({"a": "é" * (MAX_STRING_BYTES // 2 + 1)}, ensure_ascii=False)) == "too_large"


def test_more_than_256_kib_is_refused_with_413_and_the_rest_with_400():
    with pytest.raises(Unreadable) as refusal:
        read(b" " * (MAX_BYTES + 1))
    assert (refusal.value.code, refusal.value.status) == ("too_large", 413)
    with pytest.raises(Unreadable) as refusal:
        read(nested(33).encode())
    assert (refusal.value.code, refusal.value.status) == ("too_large", 400)


def test_limits_are_looked_at_before_shape():
    assert code_of("[" * 100_000) == "too_large"
    assert code_of('{"a":' * 50_000) == "too_large"
    assert code_of("[" + "1," * 20_000) == "too_large"
    assert code_of('{"a":"' + "\\" * 2 * 70_000 + "x" * 70_000) == "too_large"


def test_brackets_in_a_string_do_not_nest():
    assert read(('{"a":"' + "[" * 1000 + '\\"[[","b":1}').encode())


@pytest.mark.parametrize(
    "body",
    ['{"a":' + "1" * 250_000 + "}", '{"a":0.' + "1" * 250_000 + "}", '{"a":1e' + "9" * 250_000 + "}",
     '{"a":0.' + "0" * 250_000 + "1e250001}", ":" * 250_000, "]" * 250_000, '"' * 250_000, '{"a":"' + "\\" * 250_000],
    ids=lambda body: body[:8],
)  # fmt: skip
def test_a_hostile_body_costs_little(body):
    began = time.process_time()
    with contextlib.suppress(Unreadable):
        read(body.encode())
    assert time.process_time() - began < 2


def test_the_first_fault_in_the_order_of_the_rules_answers():
    assert code_of('{"a":"\\u0000","a":1e400,"__proto__":1}') == "duplicate_key"
    assert code_of('{"a":"\\u0000","b":1e400,"__proto__":1}') == "forbidden_key"
    assert code_of('{"a":"\\u0000","b":1e400}') == "inexact_number"
    assert code_of('{"a":"\\u0000","b":1e400') == "malformed"


def test_a_refusal_says_what_to_do_and_nothing_about_our_code():
    with pytest.raises(Unreadable) as refusal:
        read(b'{"a":1e21}')
    assert "string" in refusal.value.detail
    with pytest.raises(Unreadable) as refusal:
        read(b'{"a" 1}')
    assert "line 1" not in str(refusal.value)
    assert "delimiter" not in str(refusal.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)
near_json = st.text(alphabet='{}[]":,\\u0123e.+-tfn \n\ud83d€aE', max_size=60).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


def agrees_or_refuses(body: bytes) -> None:
    try:
        value = read(body)
    except Unreadable:
        return
    assert value == json.loads(body)
    assert read(canonical(value).encode()) == value
    assert canonical(read(canonical(value).encode())) == canonical(value)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=5))
def test_whatever_is_read_is_what_any_other_reader_reads(value):
    agrees_or_refuses(json.dumps(value).encode())
    agrees_or_refuses(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=60) | near_json | near_json.map(lambda inner: b'{"a":' + inner + b"}"))
@example(b'{"a":-}')
@example(b'{"a":"\xed\xa0\x80"}')
def test_no_bytes_break_the_reader(body):
    agrees_or_refuses(body)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?", fullmatch=True))
def test_a_number_is_read_exactly_or_not_at_all(number):
    try:
        value = read(f'{{"a":{number}}}'.encode())["a"]
    except Unreadable:
        return
    assert Decimal(repr(value)) == Decimal(number)
