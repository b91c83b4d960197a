"""Texts of a template in which `${item.NAME}` and `${param.NAME}` stand: addresses of files and
images, which no shell reads. Inputs may also have `${series.previous.NAME}`, and outputs
`${product.NAME}`, which a worker fills in when the job has ended.

What an item says never chooses a store, a host or a kind of address: those are written before it.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

FIELD: Final = re.compile(r"\$\{(\w+)\.([\w.-]+?)(?::(%[^{}]*))?\}")
_ANY: Final = re.compile(r"\$\{[^}]*\}?")
_FORMAT: Final = re.compile(r"(%[YmdHMSj]|[\w./-])+")
_ADDRESS: Final = re.compile(r"([a-z0-9]+://[^/$]+/|file:///|[^:/$]+/)")
"""What stands before the first word of an item."""
_PARAM: Final = re.compile(r"\$\{param\.[^}]*\}")
_VARIABLE: Final = re.compile(r"\$\{WEFT_\w+\}")
"""Of an array, which each job of it fills in."""
SERIES: Final = "series"
PRODUCT: Final = "product"
SEALED: Final = ("secret",)
"""Opened where it is sent, and nowhere before."""
_BEFORE: Final = "previous"
JOB_BEFORE: Final = "${series.previous.job}"
"""Its job, as b1.j7: who finds it is weft, so it may be the host of an address."""
_VALUE_CHARS_MAX: Final = 1000
ValueOf = Callable[[str, str], object]
"""Of a root and a name; raises what the caller wants where there is none."""


class CannotFill(ValueError):
    """A text cannot be filled in with this value."""


def wrong_text(text: str, *, roots: tuple[str, ...], is_address: bool = False) -> str:
    """Say what is wrong with a text; empty: nothing is."""
    for field in _ANY.findall(text):
        match = FIELD.fullmatch(field)
        if match is None or match[1] not in roots:
            known = " and ".join(f"${{{root}.NAME}}" for root in roots)
            return f"{field} is not known here; it may have {known}"
        if match[1] == SERIES and not match[2].startswith(f"{_BEFORE}."):
            return f"{field} is not known here; it may have ${{series.previous.NAME}}"
        if match[3] is not None and not _FORMAT.fullmatch(match[3]):
            return f"{match[3]} should be a date such as %Y/%m/%d"
    plain = _PARAM.sub("x", text).replace(JOB_BEFORE, "x")  # only operators set parameters
    if is_address and "${" in plain and not _ADDRESS.match(plain):
        return "an item fills in what comes after the address: write store://NAME/ before it"
    return ""


def filled(
    text: str,
    value_of: ValueOf,
    quote: Callable[[str, str], str] | None = None,
    *,
    later: tuple[str, ...] = SEALED,
) -> str:
    """Return a text with its values. `quote`: writes a value of a root as it stands there.
    `later`: roots that others fill in. Raise `CannotFill`.
    """

    def one_of(match: re.Match[str]) -> str:
        if match[1] in later:
            return match[0]
        value = _written(value_of(match[1], match[2]), match)
        return value if quote is None else quote(value, match[1])

    return FIELD.sub(one_of, text)


def names_product(text: str | None) -> bool:
    """Say whether what a product says stands in the address of an output."""
    return text is not None and f"${{{PRODUCT}." in text


def wrong_target(text: str) -> str:
    """Say what is wrong with the address of an output that names a product; empty: nothing."""
    return wrong_text(_VARIABLE.sub("x", text), roots=(PRODUCT,), is_address=True)


def fixed_part(text: str) -> str:
    """Return what stands before the first word of a product."""
    return text.partition(f"${{{PRODUCT}.")[0]


def _written(value: object, match: re.Match[str]) -> str:
    form: str | None = match[3]
    if form is not None:
        value = _date(value, match[0]).strftime(form)
    elif isinstance(value, datetime | date):
        value = value.isoformat()
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CannotFill(f"{match[0]} is neither a text nor a number")
    text = str(value)
    if not text or len(text) > _VALUE_CHARS_MAX or not text.isprintable() or "${" in text:
        raise CannotFill(f"{match[0]} should have 1 to {_VALUE_CHARS_MAX} printable characters")
    if ".." in text.split("/"):
        raise CannotFill(f"{match[0]} leads out of its directory")
    return text


def _date(value: object, shown: str) -> datetime | date:
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime) and value.tzinfo:
            value = value.astimezone(UTC)
    except (ValueError, OverflowError) as error:  # the first and the last day elsewhere
        raise CannotFill(f"{shown} is no date") from error
    if not isinstance(value, datetime | date):
        raise CannotFill(f"{shown} is no date")
    return value


def at(value: object, path: str) -> object:
    """Return a field of an item, `a.b` for one in another; `None`: there is none."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def names_in(job: Mapping[str, Any], root: str) -> set[str]:
    """Return what the texts of a template read of a root."""
    found: set[str] = set()

    def look(text: str) -> str:
        found.update(match[2] for match in FIELD.finditer(text) if match[1] == root)
        return text

    map_texts(job, look)
    return found


def without_previous(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a template that an item has that nothing is before; empty: all."""
    given = job.get("inputs")
    if not isinstance(given, list):
        return {}
    kept = [one for one in given if f"${{{SERIES}." not in str(one.get("from"))]
    return {"inputs": kept} if len(kept) < len(given) else {}


def map_texts(job: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a template that have texts to be filled in, with each one changed."""
    found: dict[str, Any] = {}
    for field in ("inputs", "outputs"):
        given = job.get(field)
        if isinstance(given, list) and any(map(_has_words, given)):
            found[field] = [_changed(one, ("from", "to"), change) for one in given]
    container = job.get("container")
    if isinstance(container, Mapping) and "${" in str(container.get("image")):
        found["container"] = _changed(container, ("image",), change)
    return found


def _has_words(given: object) -> bool:
    return isinstance(given, Mapping) and any(
        "${" in str(given.get(name)) for name in ("from", "to")
    )


def _changed(given: object, names: tuple[str, ...], change: Callable[[str], str]) -> object:
    if not isinstance(given, Mapping):
        return given
    return {
        name: change(one) if name in names and isinstance(one, str) else one
        for name, one in given.items()
    }
