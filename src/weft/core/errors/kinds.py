"""The kinds of errors, each with its HTTP status and exit code."""

import errno
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypedDict, Unpack

if TYPE_CHECKING:
    from weft.core.login_attempts import LoginAttempt


class FieldError(NamedTuple):
    """One offending field: its JSON pointer (RFC 6901; empty: the whole document), and what is
    wrong with it.
    """

    pointer: str
    message: str

    def __str__(self) -> str:
        """Return both in one line."""
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


FIELDS_SHOWN = 20
POINTER_MAX = 4096
WORD_MAX = 240
_LONG_WORD = re.compile(rf"(\S{{{WORD_MAX // 2}}})\S{{{WORD_MAX // 2},}}(\S{{20}})")
"""What somebody gave and a message repeats: its begin and its end tell which it is."""
_SECOND_STOP = re.compile(r"((?<!\.)[.?!…])\.$")
"""Of a reason that ends by itself, and was taken for one that does not."""


def _short(text: str) -> str:
    return _LONG_WORD.sub(r"\1…\2", text) if len(text) > WORD_MAX else text


class _KnownBy(TypedDict, total=False):
    code: str
    sqlstate: str
    status: int
    exit_code: int


class WeftError(Exception):
    """The base of all errors that are reported to a person.

    As text it is all that there is to say: message, detail or offending fields, hint.
    """

    code: ClassVar[str] = "WEFT.INTERNAL"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    sqlstate: ClassVar[str] = ""
    """The code with which a function of the database raises it; empty: none does."""
    advice: ClassVar[str] = ""
    """The default hint."""
    retry_after_s: int | None = None
    """When repeating the request may help (`Retry-After`); `None`: nobody knows, or never."""
    login: "LoginAttempt | None" = None
    """The login that this error refuses, for the trail."""

    def __init_subclass__(cls, **known_by: Unpack[_KnownBy]) -> None:
        """Take what this kind is known by; what is not said is as of its base."""
        if unknown := known_by.keys() - _KnownBy.__annotations__.keys():
            raise TypeError(f"{cls.__name__} cannot be known by {unknown}")
        for name, value in known_by.items():
            setattr(cls, name, value)

    def __init__(
        self, message: str, *, detail: str = "", hint: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        self.message = _short(message)
        super().__init__(self.message)
        self.detail = detail
        self.hint = hint or self.advice
        self.errors = tuple(FieldError(e.pointer[:POINTER_MAX], _short(e.message)) for e in errors)
        self.subject = ""
        """The one of many things in a call that the database refused, e.g. `j7`."""

    @property
    def detail(self) -> str:
        """Why: sentences, which end with one mark each."""
        return self._detail

    @detail.setter
    def detail(self, text: str) -> None:
        self._detail = _SECOND_STOP.sub(r"\1", _short(text))

    @property
    def told(self) -> dict[str, str]:
        """What a line of the log says of it."""
        return {"error": self.message, "detail": self.detail, "hint": self.hint}

    def point(self, moved: Callable[[str], str]) -> None:
        """Let its pointers name other places: what `moved` returns for each."""
        self.errors = tuple(FieldError(moved(one.pointer), one.message) for one in self.errors)

    def __str__(self) -> str:
        return "\n  ".join([self.message, *self._reasons(), *self.hint.splitlines()])

    def _reasons(self) -> Iterator[str]:
        if len(self.errors) <= 1 and self.detail:
            yield self.detail
            return
        for error in self.errors[:FIELDS_SHOWN]:
            yield f"{error.pointer or '/'}: {error.message}"
        if len(self.errors) > FIELDS_SHOWN:
            yield f"… and {len(self.errors) - FIELDS_SHOWN} more"


class Invalid(WeftError, code="API.INVALID_REQUEST", status=400, exit_code=2):
    """The request is invalid."""


class Unauthenticated(
    WeftError, code="API.UNAUTHENTICATED", sqlstate="WF131", status=401, exit_code=4
):
    """No token, or one that is not valid."""

    is_expired = False
    """Whether it is known that the token was good once."""


class Forbidden(WeftError, code="API.FORBIDDEN", status=403, exit_code=4):
    """The caller may not do this."""


class NotFound(WeftError, code="API.NOT_FOUND", status=404, exit_code=2):
    """It does not exist, or the caller may not see it."""


class Conflict(WeftError, code="API.CONFLICT", status=409, exit_code=4):
    """The request conflicts with the present state."""


class TooLarge(WeftError, code="API.TOO_LARGE", status=413, exit_code=2):
    """The request is larger than the limit."""


class Unavailable(WeftError, code="API.UNAVAILABLE", status=503, exit_code=3):
    """The service is not available now; try again later."""

    retry_after_s: int | None = 1


NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Of an `OSError`: no room on the disk, or no more for this user of it."""


class DiskFull(Unavailable, code="API.DISK_FULL", status=507):
    """A disk of the server or of its database is full, or nearly so."""

    retry_after_s = 5
    advice = "Free some space there, or try again later; weft goes on by itself."


class Internal(WeftError, code="API.INTERNAL"):
    """A defect of weft."""


def error_classes(root: type[WeftError] = WeftError) -> Iterator[type[WeftError]]:
    """Yield a class of errors and its subclasses, of all imported modules."""
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)
