"""Every text that the console shows, found in its source: what is marked, and what the domain says in English.

Pages mark their texts for gettext. The domain has no Django: what it says (refusals, requirements, reasons,
summaries) is found by its shape, and `review.access.wording` translates it where a page shows it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from django.template import engines
from django.utils.translation.template import templatize

from huqan_site.lib.catalogue import Message
from review.access.wording import TOLD

ROOT = Path(__file__).resolve().parents[2]
APPS = ("huqan_site", "review", "memory")

GETTEXT = {"_", "gettext", "gettext_lazy", "gettext_noop"}
NGETTEXT = {"ngettext", "ngettext_lazy"}
QUOTED = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
CALL = re.compile(rf"(?:\bn?gettext|\b_)\((?:u?{QUOTED},? ?|count)+\)")
"""A call of gettext in what Django makes of a template."""

SAYING = ("title", "detail", "advice")
"""What a refusal says, as attributes of its class."""

TELLING = {"Requirement", "FieldError", "Signal", "PreviewRow", "Fault", "Answer", "Asking", "_Telling"}
"""What is called with a sentence, besides the refusals themselves."""

WORDS = {"roles.Role", "gate.Outcome", "status.Status", "actions.Ending"}
"""Closed lists whose words stand inside sentences."""

UNSAID = {
    "binding", "canonical_json", "model_phrases", "credentials", "patterns", "context", "fragments", "labels",
    "permit", "tokens", "normalise", "topics", "models", "model_instructions",
}  # fmt: skip
"""Modules of the domain in which no string is shown: patterns, formats, what is hashed."""


def messages() -> list[Message]:
    """Return all messages, without translations, in the order of their files."""
    found: dict[tuple[str, str], Message] = {}
    for message in (*_of_templates(), *_of_modules(), *_of_guides()):
        kept = found.setdefault(message.key, message)
        kept.marks |= message.marks
        kept.places |= message.places
        kept.plural = kept.plural or message.plural
    return list(found.values())


def _of_templates() -> Iterator[Message]:
    engines.all()
    for path in sorted((ROOT / "templates").rglob("*.html")):
        place = str(path.relative_to(ROOT))
        for call in CALL.finditer(templatize(path.read_text(encoding="utf-8"))):
            texts = [ast.literal_eval(one) for one in re.findall(QUOTED, call[0])]
            yield Message(texts[0], plural=texts[1] if call[0].startswith("n") else "", places={place})


def _of_guides() -> Iterator[Message]:
    from huqan_site.help import guides  # it asks for the settings, which a command makes first

    for path, *said in guides():
        yield from (Message(text, places={str(path.relative_to(ROOT))}) for text in said if text)


def _of_modules() -> Iterator[Message]:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _modules()}
    refusals = set(_refusals(trees.values()))
    for path, tree in trees.items():
        place = str(path.relative_to(ROOT))
        for message in (*_marked(tree), *_told(tree, path, refusals)):
            message.places = {place}
            yield message


def _modules() -> Iterator[Path]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if not {"migrations", "demo", "commands", "component_sheet.py"} & set(path.parts):
                yield path


def _marked(tree: ast.AST) -> Iterator[Message]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name, texts = _name(node.func), [a.value for a in node.args if isinstance(a, ast.Constant)]
            if name in GETTEXT:
                yield Message(texts[0])
            elif name in NGETTEXT:
                yield Message(texts[0], plural=texts[1])


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _refusals(trees: Iterable[ast.AST]) -> Iterator[str]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(name in SAYING for name, _ in _attributes(node)):
                yield node.name


def _attributes(kind: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for line in kind.body:
        if isinstance(line, ast.AnnAssign) and line.value and isinstance(line.target, ast.Name):
            yield line.target.id, line.value
        elif isinstance(line, ast.Assign):
            target = line.targets[0]
            if isinstance(target, ast.Tuple) and isinstance(line.value, ast.Tuple):
                yield from (
                    (_name(one), value) for one, value in zip(target.elts, line.value.elts, strict=True)
                )
            else:
                yield _name(target), line.value


def _told(tree: ast.AST, path: Path, refusals: set[str]) -> Iterator[Message]:
    said = _strings_of_the_domain(tree) if _is_domain(path) else _said_by_calls(tree, refusals)
    yield from (Message(code, marks={TOLD}) for code in _codes(tree))
    for node in (*said, *_said_by_classes(tree), *_words_of_lists(tree, path.stem), *_kinds(tree, path.stem)):
        for text in _spellings(node):
            if re.search(r"[A-Za-z]{2}", re.sub(r"%\(\w+\)s", "", text)) and not re.match(r"\w+\[", text):
                yield Message(text, marks={TOLD})


def _is_domain(path: Path) -> bool:
    return "domain" in path.parts and path.stem not in UNSAID


def _said_by_classes(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (value for name, value in _attributes(node) if name in SAYING)


def _said_by_calls(tree: ast.AST, refusals: set[str]) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in TELLING | refusals:
            yield from (argument for argument in node.args if _is_sentence(argument))
    yield from (text for text in _constants(tree) if _is_sentence(text) and str(text.value).endswith("."))


def _constants(tree: ast.AST) -> Iterator[ast.Constant]:
    """The strings that a module gives a name of capitals, such as what a service refuses with."""
    for line in getattr(tree, "body", ()):
        named = isinstance(line, ast.Assign) and _name(line.targets[0]).isupper()
        if named and isinstance(line.value, ast.Constant):
            yield line.value


def _strings_of_the_domain(tree: ast.AST) -> Iterator[ast.expr]:
    """Every string that is no docstring and has a blank in it, or stands for one in a table of words."""
    inner = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    quiet = {id(line.value) for node in ast.walk(tree) for line in _bare(node)}
    yield from _words_of_tables(tree)
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.JoinedStr) or (
            id(node) not in inner and isinstance(node, ast.Constant)
        )
        if is_text and id(node) not in quiet and _is_sentence(node):
            yield node


def _words_of_tables(tree: ast.AST) -> Iterator[ast.expr]:
    """The single words of `_WORDS = {State.MET: "Met"}` and of how a call is told."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Attribute) for key in node.keys):
            yield from (word for word in node.values if isinstance(word, ast.Constant))
        elif isinstance(node, ast.Call) and _name(node.func) in ("_Telling", "Asking"):
            yield from (word for word in node.args if isinstance(word, ast.Constant))


def _words_of_lists(tree: ast.AST, module: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and f"{module}.{node.name}" in WORDS:
            yield from (value for _, value in _attributes(node) if isinstance(value, ast.Constant))


def _codes(tree: ast.AST) -> Iterator[str]:
    """The codes of the gate's signals, as pages write them: without underscores."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and _name(node.func) == "Signal"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value).replace("_", " ")


def _kinds(tree: ast.AST, module: str) -> Iterator[ast.expr]:
    """What the gate calls the secrets and the orders to a model that it finds."""
    if module == "model_phrases":
        yield from (text for text in _constants(tree) if " " in str(text.value) and str(text.value).islower())
    if module == "credentials":
        tuples = (node for node in ast.walk(tree) if isinstance(node, ast.Tuple) and len(node.elts) == 3)
        yield from (node.elts[0] for node in tuples if isinstance(node.elts[0], ast.Constant))


def _bare(node: ast.AST) -> list[ast.Expr]:
    body = getattr(node, "body", None)
    return [line for line in body if isinstance(line, ast.Expr)] if isinstance(body, list) else []


def _is_sentence(node: ast.expr) -> bool:
    text = "".join(next(iter(_spellings(node)), ""))
    return " " in text.strip() or text.endswith(".")


def _spellings(node: ast.expr) -> Iterator[str]:
    """The texts that an expression can become, what is not written there as %(name)s."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            text, number = node.value.replace("%", "%%"), 0
            while "{}" in text:
                number += 1
                text = text.replace("{}", f"%(value{number})s", 1)
            yield re.sub(r"\{(\w+)\}", r"%(\1)s", text)
    elif isinstance(node, ast.JoinedStr):
        for parts in product(*(list(_spellings(part)) for part in node.values)):
            yield "".join(parts)
    elif isinstance(node, ast.FormattedValue):
        yield from _spellings(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _spellings(node.body)
        yield from _spellings(node.orelse)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for left, right in product(list(_spellings(node.left)), list(_spellings(node.right))):
            yield left + right
    else:
        yield f"%({_placeholder(node)})s"


def _placeholder(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _placeholder(node.func)
    if isinstance(node, ast.Subscript):
        return _placeholder(node.value)
    return _name(node).strip("_") or "value"
