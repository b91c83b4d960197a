"""Every error that weft reports, in one tree.

    WeftError
    ├── Invalid (400, exit 2)            what was asked makes no sense; `errors` lists each offending field
    ├── Unauthenticated (401, exit 4)
    ├── Forbidden (403, exit 4)
    ├── NotFound (404, exit 2)           it does not exist, or not for you
    ├── Conflict (409, exit 4)
    ├── TooLarge (413, exit 2)
    ├── Unavailable (503, exit 3)        may work later
    └── Internal (500, exit 1)

Each leaf has a `code` (`AREA.FACT`, never reused), an HTTP status and an exit code of the command line; an instance
has a message (what happened), a detail (why) and a hint (what to do).
Messages follow PostgreSQL's style: lower case, no full stop; detail and hint are sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class FieldError:
    """One offending field: a JSON pointer (RFC 6901; empty for the whole document) and what is wrong with it."""

    pointer: str
    message: str


class WeftError(Exception):
    """The base of all errors that are reported to a person."""

    code: ClassVar[str] = "WEFT.INTERNAL"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(
        self, message: str, *, detail: str = "", hint: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.errors = tuple(errors)


class Invalid(WeftError):
    """What was asked makes no sense."""

    code = "API.INVALID_REQUEST"
    status = 400
    exit_code = 2


class BadId(Invalid):
    """A name of a thing that has not the form of one."""

    code = "API.INVALID_ID"

    def __init__(self, text: str, *, expected: str) -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"  # noqa: PLR2004 (a line of a terminal)
        super().__init__(
            f"{shown!r} is not an id", detail=f"{expected[0].upper()}{expected[1:]}.",
            hint="List batches with `weft ls`, jobs with `weft status b12`.",
        )  # fmt: skip


class Unauthenticated(WeftError):
    """No token, or one that is not valid."""

    code = "API.UNAUTHENTICATED"
    status = 401
    exit_code = 4


class Forbidden(WeftError):
    """The caller may not do this."""

    code = "API.FORBIDDEN"
    status = 403
    exit_code = 4


class NotFound(WeftError):
    """It does not exist, or not for this caller."""

    code = "API.NOT_FOUND"
    status = 404
    exit_code = 2


class BatchNotFound(NotFound):
    """No such batch."""

    code = "API.BATCH_NOT_FOUND"

    def __init__(self, batch_id: int) -> None:
        super().__init__(
            f"batch b{batch_id} does not exist",
            detail="There is no batch of this number that you may see.",
            hint="List your batches with `weft ls`.",
        )


class JobNotFound(NotFound):
    """No such job."""

    code = "API.JOB_NOT_FOUND"

    def __init__(self, batch_id: int, job_id: int) -> None:
        super().__init__(
            f"job b{batch_id}.j{job_id} does not exist",
            detail="The batch has no committed job of this number, or you may not see it.",
            hint=f"List its jobs with `weft status b{batch_id}`.",
        )


class Conflict(WeftError):
    """What was asked does not fit what is there."""

    code = "API.CONFLICT"
    status = 409
    exit_code = 4


class TooLarge(WeftError):
    """The request is larger than the limit."""

    code = "API.TOO_LARGE"
    status = 413
    exit_code = 2


class Unavailable(WeftError):
    """It may work later."""

    code = "API.UNAVAILABLE"
    status = 503
    exit_code = 3


class Internal(WeftError):
    """A defect of weft."""

    code = "API.INTERNAL"
