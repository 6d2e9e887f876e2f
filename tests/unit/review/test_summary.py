"""Our one line: address, amount and id first, nothing hidden, never the agent's own explanation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.summary import MAX_LINE, Asking, asking, summarise

RECORD = "0190a1b2-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        (
            "mail.send",
            {"to": "o.demir@kuzey.example", "subject": "Contract draft"},
            "Mail o.demir@kuzey.example: “Contract draft”",
        ),
        ("MAIL.Send", {"to": "o@example.org", "body": "x"}, "Mail o@example.org"),
        (
            "mail.send",
            {"to": ["a@example.org", "b@example.org"], "subject": "Hi"},
            "Mail a@example.org and 1 more: “Hi”",
        ),
        ("mail.send", {"to": ["a@example.org"]}, "Mail a@example.org"),
        ("mail.send", {"to": [{"name": "a"}, "b"]}, "Call mail.send with 2 values"),
        ("mail.send", {"subject": "Hi"}, "Call mail.send with 1 value"),
        ("mail.send", {"to": {"a": 1}}, "Call mail.send with 1 value"),
        (
            "payments.refund",
            {"amount": "480.00", "currency": "EUR", "order": 20817},
            "Refund 480.00 EUR on order 20817",
        ),
        ("payments.refund", {"amount": 92.4, "order": "20790"}, "Refund 92.4 on order 20790"),
        ("payments.payout", {"amount": 5, "currency": "EUR", "account": "DE12"}, "Pay out 5 EUR to DE12"),
        ("memory.write", {"content": "The staging port is 7443."}, "Remember: The staging port is 7443."),
        ("memory.supersede", {"record": RECORD, "content": "Now 7444."}, "Replace: Now 7444."),
        ("memory.learn", {"text": "Rain causes floods."}, "Learn: Rain causes floods."),
        ("memory.retract", {"record": RECORD, "reason": "Wrong."}, f"Retract {RECORD}: Wrong."),
        ("memory.erase", {"record": RECORD, "reason": "Asked."}, f"Erase {RECORD}"),
        ("policy.change", {"document": {}}, "Change the policy"),
        ("crm.update", {"id": 42, "set": {"a": [1, 2], "b": {}}}, "Call crm.update with 4 values: id 42"),
        ("crm.update", {"note": "x"}, "Call crm.update with 1 value"),
        ("crm.ping", {}, "Call crm.ping without values"),
    ],
)
def test_the_line_says_what_it_would_do(tool, arguments, line):
    assert summarise(tool, arguments) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200bment", "pay[U+200B]ment"),
        ("pay\u200b\u200b\u200bment", "pay[U+200B ×3]ment"),
        ("/srv/\u202egnp.exe", "/srv/[U+202E]gnp.exe"),
        ("a\n\nb" + " " * 100 + "c", "a b c"),
    ],
)
def test_what_hides_in_a_text_is_visible_in_the_line(text, shown):
    assert summarise("memory.write", {"content": text}) == f"Remember: {shown}"


def test_the_address_survives_a_subject_of_any_length():
    line = summarise("mail.send", {"to": "o.demir@kuzey.example", "subject": "x" * 10_000})
    assert line.startswith("Mail o.demir@kuzey.example: “xxx")
    assert "…" in line
    assert len(line) <= MAX_LINE


def test_a_padded_text_does_not_pass_for_a_short_one():
    assert summarise("memory.write", {"content": "Fine." + " " * 500 + "Not fine."}) == "Remember: Fine.…"


def test_braces_in_a_value_are_only_braces():
    assert summarise("memory.write", {"content": "{subject} {0} {"}) == "Remember: {subject} {0} {"


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("mail.send", {"to": "o@example.org", "subject": "Hi"}, Asking("mail", "o@example.org")),
        ("memory.write", {"content": "Tea at 4."}, Asking("remember", "“Tea at 4.”")),
        (
            "memory.supersede",
            {"record": RECORD, "content": "x", "subject": "the port"},
            Asking("replace what is remembered about", "the port"),
        ),
        ("memory.supersede", {"record": RECORD, "content": "x"}, Asking("replace the memory", RECORD)),
        ("crm.update", {"id": 42}, Asking("call", "crm.update with 1 value")),
    ],
)
def test_the_asking_sentence_names_the_object(tool, arguments, expected):
    assert asking(tool, arguments) == expected


@settings(deadline=None)
@given(
    st.sampled_from(["mail.send", "memory.write", "payments.refund", "x.y"]),
    st.dictionaries(
        st.sampled_from(["to", "subject", "content", "amount", "order", "id"]),
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.text()
        | st.lists(st.text(max_size=3), max_size=2),
    ),
)
def test_every_line_is_one_short_line(tool, arguments):
    line = summarise(tool, arguments)
    assert 0 < len(line) <= MAX_LINE
    assert not set("\n\r\u2028\u202e\u200b") & set(line)
    assert asking(tool, arguments).what
