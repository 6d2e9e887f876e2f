"""Texts that a page may show: what is secret in them is said in words, and is not in the page."""

from __future__ import annotations

from typing import Any, NamedTuple

from memory.domain.credentials import Secret, secrets_in


class Masked(NamedTuple):
    """A text with its secrets replaced, and which stretches of the stored text those were."""

    text: str
    secrets: tuple[Secret, ...]
    words: tuple[str, ...]

    @property
    def is_masked(self) -> bool:
        return bool(self.secrets)

    def place(self, offset: int) -> int:
        """Return where an offset of the stored text is in this one; inside a secret, where its words begin."""
        moved = offset
        for secret, words in zip(self.secrets, self.words, strict=True):
            if offset >= secret.end:
                moved += len(words) - (secret.end - secret.start)
            elif offset > secret.start:
                return moved - (offset - secret.start)
        return moved


def masked(text: str) -> Masked:
    """Return `text` as a page may show it."""
    secrets = tuple(secrets_in(text))
    words = tuple(f"[{secret.kind}, {secret.end - secret.start} characters, not shown]" for secret in secrets)
    shown, end = "", 0
    for secret, said in zip(secrets, words, strict=True):
        shown += text[end : secret.start] + said
        end = secret.end
    return Masked(shown + text[end:], secrets, words)


def masked_value(value: Any) -> Any:
    """Return a JSON value with every string in it masked."""
    if isinstance(value, str):
        return masked(value).text
    if isinstance(value, dict):
        return {name: masked_value(member) for name, member in value.items()}
    if isinstance(value, list):
        return [masked_value(item) for item in value]
    return value
