"""One text for one value: whoever hashes it, hashes the same bytes."""

import base64
import json
from pathlib import Path

import pytest

from huqan_site.lib.canonical_json import canonical, digest
from huqan_site.lib.strict_json import read

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "binding.json").read_text())["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_arguments_become_the_text_of_the_shared_vector(vector):
    arguments = read(base64.b64decode(vector["arguments_raw_b64"]))
    whole = {**json.loads(vector["canonical"]), "arguments": arguments}
    assert canonical(whole) == vector["canonical"]


def test_spelling_of_numbers_and_order_of_keys_do_not_matter():
    assert (
        canonical(read(b'{"b":1.0,"a":[1e2,-0.0]}'))
        == '{"a":[100,0],"b":1}'
        == canonical({"a": [100, 0], "b": 1})
    )


def test_one_and_true_and_the_string_one_stay_apart():
    assert len({canonical(value) for value in (1, True, "1", [1], None)}) == 5


@pytest.mark.parametrize("value", [2**53, float("nan"), float("inf"), "\ud800", {1: 1}])
def test_what_the_reader_would_refuse_has_no_text(value):
    with pytest.raises(ValueError):  # noqa: PT011 (rfc8785's own errors)
        canonical(value)


def test_a_digest_names_its_algorithm():
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
