"""Messages to sinks: how jobs name sinks, what a message must fit, and what an answer means."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from weft.core.bounded import read_json
from weft.core.text.filling import CannotFill, at, filled

if TYPE_CHECKING:
    from jsonschema_rs import Validator

SINKS_MAX: Final = 8
CHECKS_MAX: Final = 10
CHECK_S: Final = 60.0
"""What a check may take."""
HTTP: Final = "http"
COMMAND: Final = "command:"
"""Before the name of a program, where other sinks have an address."""
_SINK: Final = re.compile(r"[^\x00-\x1f\x7f]{1,64}")
_LATER: Final = frozenset({408, 425, 429})
"""Statuses of 4xx that ask for another try."""


def sinks_of(given: object) -> tuple[str, ...]:
    """Return the sinks that a text or a list names; `None` names none."""
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else ()


def wrong_sinks(given: object) -> str:
    """Say what is wrong with sinks as they are named; empty: nothing is."""
    names = sinks_of(given)
    if given is not None and (
        not 1 <= len(names) <= SINKS_MAX
        or not all(isinstance(name, str) and _SINK.fullmatch(name) for name in names)
    ):
        return f"it should be the name of a [sink.NAME], or a list of 1 to {SINKS_MAX} of them"
    twice = next((name for name in names if names.count(name) > 1), None)
    return "" if twice is None else f"it names {twice} twice"


def checks_of(facts: Mapping[str, Any]) -> Sequence[str] | None:
    """Return the checks that a product names. None: what it has there are no names."""
    product = read_json(facts.get("product") or "null")
    given = product.get("checks", []) if isinstance(product, Mapping) else []
    fine = isinstance(given, list) and len(given) <= CHECKS_MAX and are_words(given)
    return given if fine else None


def target_of(options: Mapping[str, str], facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the options with the values of one message. `facts`: of its job, and as text its
    `product`. Raise `CannotFill`.
    """
    product = read_json(facts.get("product") or "null")

    def value_of(root: str, name: str) -> object:
        if (value := at(facts if root == "job" else product, name)) is None:
            raise CannotFill(f"there is no {root}.{name}, which the target of the message needs")
        return value

    return {name: filled(text, value_of) for name, text in options.items()}


def unsent(counts: Mapping[str, Any]) -> str:
    """Return how many messages of a sink have not arrived, and how they are; empty: none."""
    words = {"n_open": "open", "n_given_up": "given up", "n_held": "held"}
    return ", ".join(f"{counts[name]:,} {word}" for name, word in words.items() if counts[name])


def unsent_of(sinks: Sequence[Mapping[str, Any]]) -> str:
    """Return the same of several sinks, each with its last error."""
    return "; ".join(f"sink {one['sink']}: {unsent_why(one)}" for one in sinks)


def unsent_why(counts: Mapping[str, Any]) -> str:
    """Return the same with the last error."""
    return ": ".join(filter(None, (unsent(counts), counts["last_error"])))


def is_rejected(sink: Mapping[str, Any], status: int | None) -> bool:
    """Say whether an answer, or an exit code, rejects a message. `sink`: as it is stored."""
    if status is None or (sink["kind"] == HTTP and status in _LATER):
        return False
    return any(first <= status <= last for first, last in sink.get("rejected", ()))


def are_words(given: list[object]) -> bool:
    """Say whether these may be names of checks or statuses."""
    return all(isinstance(one, str) and 0 < len(one) <= 64 for one in given)  # noqa: PLR2004


def validator_of(schema: Mapping[str, Any]) -> "Validator":
    """Return what checks messages. Raise `ValueError`; what the schema names outside is none."""
    from jsonschema_rs import ReferencingError, ValidationError, validator_for  # noqa: PLC0415 (few need it)

    def refuse(uri: str) -> Any:  # noqa: ANN401 (it never returns)
        raise ValueError(f"{uri} is outside of the schema")

    try:
        return validator_for({**schema}, retriever=refuse)
    except (ReferencingError, ValidationError) as error:
        raise ValueError(str(error)) from error
