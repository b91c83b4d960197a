"""Messages of one tenant's sinks, in a process of its own: `python -m weft.run.asked.message`.

The driver starts it with an environment without settings or secrets. Each line of standard input
is a template and what it gets, each line of standard output the message or what is wrong. A
template may loop or grow: the driver kills a process that does not answer in time, and its memory
is bounded.
"""

import json
import resource
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from weft.core.bounded import Unreadable, read_json
from weft.core.deliveries.sinks import validator_of

if TYPE_CHECKING:
    from jsonschema_rs import Validator

BYTES_MAX: Final = 1 << 20
"""Of a message."""
_MEMORY_BYTES: Final = 1 << 30
_SAID_CHARS_MAX: Final = 200


class TooLong(Exception):
    """The message is longer than `BYTES_MAX`."""


class Misfit(Exception):
    """The message can never be sent."""


def make_message(source: str, facts: Mapping[str, Any], schema: str | None = None) -> str:
    """Return a message, which is JSON and fits the schema. Raise `Misfit`, `TooLong`,
    `ValueError` or `TemplateError`.
    """
    parts, n_bytes = [], 0
    known = {**facts}
    product = known.pop("product", None)
    product = None if product is None else _product(product)
    for part in _template(source).generate(job=known, product=product):
        n_bytes += len(part.encode())
        if n_bytes > BYTES_MAX:
            raise TooLong(f"it is longer than {BYTES_MAX} bytes")
        parts.append(part)
    made = "".join(parts)
    found = read_json(made)
    if schema is not None:
        _check(found, schema)
    return made


def _product(text: str) -> Any:  # noqa: ANN401 (any JSON)
    try:
        return read_json(text)
    except Unreadable as error:
        raise Misfit(f"its file is no JSON: {error}") from error


def _check(message: Any, schema: str) -> None:  # noqa: ANN401 (any JSON)
    for error in _validator(schema).iter_errors(message):
        where = "".join(f"/{one}" for one in error.instance_path)
        raise Misfit(f"{where or 'it'} does not fit the schema: {error.message}")


@lru_cache(maxsize=64)
def _validator(schema: str) -> "Validator":
    return validator_of(read_json(schema))


@lru_cache(maxsize=64)
def _template(source: str) -> Template:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, cache_size=0)
    return environment.from_string(source)


def answer(line: str) -> Mapping[str, str]:
    """Return the message that a line asks for, or what is wrong."""
    asked = json.loads(line)
    try:
        return {"message": make_message(asked["template"], asked["facts"], asked.get("schema"))}
    except Misfit as error:
        return {"misfit": str(error)[:_SAID_CHARS_MAX]}
    except Unreadable as error:
        said = f"it is no JSON: {error}"
    except TemplateError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 (expressions of templates may raise anything)
        said = f"{type(error).__name__}: {error}"
    return {"error": f"the message cannot be made: {said[:_SAID_CHARS_MAX]}"}


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
