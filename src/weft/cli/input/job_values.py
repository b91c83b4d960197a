"""Wrong values of a job file that only the server judges, as far as they can be told without it.

The server stops at wrong types, so a file with both would be corrected twice.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.cli.input.shape_options import READERS
from weft.core.errors import InvalidDocument, InvalidValue, ParentNotFound
from weft.core.graph.parents import refers_to_earlier
from weft.core.problems import PROBLEMS_MAX, Problems, pointer_of

_Mistake = tuple[type[InvalidDocument], str, str]


def with_values(error: InvalidDocument, document: Mapping[str, Any]) -> InvalidDocument:
    """Return the error with the wrong values that it does not name yet."""
    if len(error.errors) >= PROBLEMS_MAX:
        return error
    known = {one.pointer for one in error.errors}
    problems = Problems()
    for one in error.errors:
        problems.add(type(error), one.pointer, one.message)
    for kind, pointer, message in _wrong_values(document):
        if pointer not in known:
            problems.add(kind, pointer, message)
    return problems.error() if len(problems.found) > len(known) else error


def check_values(document: Mapping[str, Any]) -> None:
    """Raise `InvalidDocument` with all wrong values."""
    problems = Problems()
    for mistake in _wrong_values(document):
        problems.add(*mistake)
    problems.raise_any()


def _wrong_values(document: Mapping[str, Any]) -> Iterator[_Mistake]:
    given = document.get("jobs")
    jobs = [
        (index, job)
        for index, job in enumerate(given if isinstance(given, list) else ())
        if isinstance(job, Mapping)
    ]
    names = {name for _, job in jobs if isinstance(name := job.get("name"), str)}
    for index, job in jobs:
        if isinstance(asked := job.get("resources"), Mapping):
            yield from _wrong_sizes(asked, pointer_of("jobs", index, "resources"))
        if isinstance(parents := job.get("parents"), list):
            for n, ref in enumerate(parents):
                one = ref.get("of") if isinstance(ref, Mapping) else ref
                if not isinstance(one, str) or one[:1] == "/":  # the server looks for paths
                    continue
                if one not in names and not refers_to_earlier(one):
                    message = f"no job of the document is named {one[:80]!r}"
                    yield ParentNotFound, pointer_of("jobs", index, "parents", n), message


def _wrong_sizes(asked: Mapping[str, Any], at: str) -> Iterator[_Mistake]:
    for name, read in READERS.items():
        value = asked.get(name)
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            try:
                read(value)
            except (ValueError, OverflowError) as error:
                yield InvalidValue, f"{at}/{name}", str(error)[:200]
