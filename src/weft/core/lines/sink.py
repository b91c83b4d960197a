"""Sinks of a setup, `[sink.NAME]`: where what jobs have made is announced."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from weft.core.callback_url import parse_callback_url
from weft.core.lines.lifecycle import Say

KINDS: Final = ("http",)
MESSAGE_CHARS_MAX: Final = 32_768
TRIES_MAX: Final = 1000
PATH_MAX: Final = 20
_FIELDS: Final = ("kind", "url", "message", "order", "tries", "retry_path", "given_up_path")
_TRIES: Final = 20


@dataclass(frozen=True)
class Sink:
    """A checked sink."""

    url: str
    message: str
    """A Jinja2 template of JSON."""
    order: str | None
    """An attribute of jobs: messages of jobs that have the same one are sent one after another."""
    tries: int
    retry_path: tuple[str, ...]
    """Statuses that a job goes through when a try has failed."""
    given_up_path: tuple[str, ...]
    """The same, after the last try."""


def parse_sink(document: object, say: Say) -> Sink | None:
    """Check one sink; return `None` if something was said about it."""
    said: list[str] = []

    def wrong(field: str, what: str) -> None:
        said.append(what)
        say((field,) if field else (), what)

    if not isinstance(document, Mapping):
        wrong("", "it should be a table")
        return None
    for field in document:
        if field not in _FIELDS:
            wrong(str(field), f"a sink has no such field; it has {', '.join(_FIELDS)}")
    if document.get("kind") not in KINDS:
        wrong("kind", f"it should be one of {', '.join(KINDS)}")
    try:
        parse_callback_url(str(document.get("url", "")))
    except ValueError as error:
        wrong("url", str(error))
    message = _text(document, "message", MESSAGE_CHARS_MAX)
    if message is None:
        wrong("message", f"it should be a template of 1 to {MESSAGE_CHARS_MAX} characters")
    order = _text(document, "order", 64)
    if order is None and "order" in document:
        wrong("order", "it should be the name of an attribute of jobs")
    tries = document.get("tries", _TRIES)
    if not isinstance(tries, int) or isinstance(tries, bool) or not 1 <= tries <= TRIES_MAX:
        wrong("tries", f"it should be a number from 1 to {TRIES_MAX}")
    paths = {}
    for field in ("retry_path", "given_up_path"):
        given = document.get(field, [])
        if not isinstance(given, list) or len(given) > PATH_MAX or not _are_words(given):
            wrong(field, f"it should be a list of at most {PATH_MAX} statuses")
        else:
            paths[field] = tuple(given)
    if said or message is None or not isinstance(tries, int):
        return None
    return Sink(str(document["url"]), message, order, tries, paths["retry_path"],
                paths["given_up_path"] or paths["retry_path"][:1])  # fmt: skip


def _text(document: Mapping[str, object], field: str, longest: int) -> str | None:
    given = document.get(field)
    return given if isinstance(given, str) and 0 < len(given) <= longest else None


def _are_words(given: list[object]) -> bool:
    return all(isinstance(one, str) and 0 < len(one) <= 64 for one in given)  # noqa: PLR2004
