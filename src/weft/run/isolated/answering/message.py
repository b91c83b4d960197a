"""Makes messages of one tenant's sinks. A template may loop or grow."""

from collections.abc import Callable, Mapping
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


def begin(_: object) -> Callable[[tuple[str, Mapping[str, Any], str | None]], Mapping[str, str]]:
    """Return what takes a template, facts and a schema, and returns what there is under a name: a
    `message`, a `misfit` or an `error`.
    """
    return lambda asked: _made(*asked)


def _made(source: str, facts: Mapping[str, Any], schema: str | None) -> Mapping[str, str]:
    try:
        return {"message": make_message(source, facts, schema)}
    except Misfit as error:
        return {"misfit": str(error)}
    except Unreadable as error:
        return {"error": f"it is no JSON: {error}"}
    except TemplateError as error:
        return {"error": str(error)}
