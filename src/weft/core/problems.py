"""All problems of one document, collected, and then one error that names each of them; and errors
as problem documents.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from weft.core.errors import FieldError, InvalidDocument, WeftError

PROBLEMS_MAX = 100
"""A document of 10,000 jobs with the same mistake need not list it 10,000 times."""

NEAR_NAMES_MAX = 20
"""For as many wrong names the one that was probably meant is looked for, which takes long."""
CHECKED_MAX = 20_000
"""As many values of a refused document are checked one by one, in some hundredths of a second."""


_LOOKED_AT_MAX = 100_000
_POINTER_CHARS_MAX = 1_000
_HOLDS = (str, list, tuple, dict)
"""What is or may hold a text."""
_At = tuple[Any, str | int] | None
"""Where a value is: where what holds it is, and its place there."""


def pointer_of(*parts: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a field."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def pointers_of(document: object, is_it: Callable[[str], bool]) -> Iterator[str]:
    """Yield the pointers of the texts and keys for which this holds, in no order. As many values
    are looked at as take some hundredths of a second, and a long pointer is cut.

    >>> sorted(pointers_of({"a": ["b", 1], "C": "d"}, str.islower))
    ['/C', '/a', '/a/0']
    >>> len(next(pointers_of({"k" * 9999: 1}, str.islower)))
    1000
    """
    rest: list[tuple[_At, object]] = [(None, document)]
    for _ in range(_LOOKED_AT_MAX):
        if not rest:
            return
        at, value = rest.pop()
        if isinstance(value, str):
            if is_it(value):
                yield _pointer(at)
        elif isinstance(value, list | tuple):
            # Only the way is kept: a pointer for each of many items below a long key is too much.
            rest += [((at, n), item) for n, item in enumerate(value) if isinstance(item, _HOLDS)]
        elif isinstance(value, dict):
            for key, item in value.items():
                if is_it(str(key)):
                    yield _pointer((at, key))
                if isinstance(item, _HOLDS):
                    rest.append(((at, key), item))


def _pointer(at: _At) -> str:
    parts = list[str | int]()
    while at is not None:
        at, part = at
        parts.append(part[:_POINTER_CHARS_MAX] if isinstance(part, str) else part)
    return pointer_of(*reversed(parts))[:_POINTER_CHARS_MAX]


@dataclass
class Problems:
    """Problems of one document, in the order found."""

    found: list[tuple[type[InvalidDocument], FieldError]] = field(default_factory=list)
    n_found: int = 0
    near_left: int = NEAR_NAMES_MAX
    checks_left: int = CHECKED_MAX

    def add(self, kind: type[InvalidDocument], pointer: str, message: str) -> None:
        """Note that a field is wrong; beyond `PROBLEMS_MAX` they are only counted."""
        self.n_found += 1
        if len(self.found) < PROBLEMS_MAX:
            self.found.append((kind, FieldError(pointer[:_POINTER_CHARS_MAX], message)))

    def copy(self) -> "Problems":
        """Return a list of its own with what was found so far."""
        return Problems([*self.found], self.n_found, self.near_left, self.checks_left)

    @property
    def is_full(self) -> bool:
        """Say whether further ones would only be counted."""
        return len(self.found) >= PROBLEMS_MAX

    def error(self) -> InvalidDocument:
        """Return one error for all that was found, of their kind if they are of one."""
        kinds = {kind for kind, _ in self.found}
        kind = kinds.pop() if len(kinds) == 1 else InvalidDocument
        return kind.of([error for _, error in self.found], n_found=self.n_found)

    def raise_any(self) -> None:
        """Raise the error if anything was found."""
        if self.found:
            raise self.error()


@contextmanager
def pointing(moved: Callable[[str], str]) -> Iterator[None]:
    """Let the pointers of an error of this block name other places: what `moved` returns."""
    try:
        yield
    except WeftError as error:
        error.point(moved)
        raise


def problem_document(error: WeftError, trace_id: str) -> dict[str, Any]:
    """Return the document of an error."""
    return {
        "type": f"urn:weft:error:{error.code}",
        "title": error.message,
        "status": error.status,
        "detail": error.detail,
        "hint": error.hint,
        "code": error.code,
        "trace_id": trace_id,
        "errors": [{"pointer": one.pointer, "message": one.message} for one in error.errors],
    }
