"""Options that say after which ends a job is tried again, and with what."""

import re
from typing import Any, Final

_CHARS_MAX: Final = 60
_EXAMPLE: Final = '"oom: memory x2 up to 16Gi", "oom: memory 8Gi" or "preempted: stays after 2"'
_RULE: Final = re.compile(
    r"(?P<on>[^ ].*?) *: *"
    r"(?:(?P<stays>stays)|(?P<field>cpu|memory|storage|timeout|machine) +(?P<value>[^ ]+))"
    r"(?: +up +to +(?P<up_to>[^ ]+))?(?: +after +(?P<after>[0-9]{1,3}))?"
)


def parse_words(text: str) -> list[str]:
    """Read words with commas between them. Raise `ValueError` for one that is missing."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise ValueError("a word is missing: oom,exit:3, for example")
    return words


def parse_exit_codes(text: str) -> tuple[str, str]:
    """Read what exit codes mean, as `200-207=success`. Raise `ValueError`."""
    codes, equals, meaning = text.partition("=")
    if not equals:
        raise ValueError(f'{text[:_CHARS_MAX]!r} is not as "200-207=success: no product"')
    return codes.strip(), meaning.strip()


def parse_retry_with(text: str) -> dict[str, Any]:
    """Read a rule of `retry_with`. Raise `ValueError` for anything else."""
    match = _RULE.fullmatch(text.strip()[:1000])
    if match is None:
        raise ValueError(f"{text[:_CHARS_MAX]!r} is no rule such as {_EXAMPLE}")
    rule: dict[str, Any] = {"on": parse_words(match["on"])}
    if match["stays"]:
        rule["preemptible"] = False
    else:
        rule[match["field"]] = match["value"]
    if match["up_to"]:
        rule["up_to"] = match["up_to"]
    if match["after"]:
        rule["after"] = int(match["after"])
    return rule
