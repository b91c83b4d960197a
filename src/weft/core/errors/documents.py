"""Errors in the fields of a document."""

from collections.abc import Sequence
from typing import ClassVar

from weft.core.errors.kinds import FieldError, Invalid


class InvalidDocument(Invalid, code="API.INVALID_DOCUMENT"):
    """A document with several fields that are wrong in different ways."""

    fact: ClassVar[str] = "several fields are wrong"
    advice = "Correct each of them; nothing was created."

    @classmethod
    def of(cls, errors: Sequence[FieldError], *, n_found: int = 0) -> "InvalidDocument":
        """Make the error for these fields; `n_found` may be more than are listed."""
        first = errors[0]
        where = first.pointer or "the document"
        detail = f"{where}: {first.message}"
        more = max(n_found, len(errors)) - 1
        detail += f" (and {more} more)." if more else "."
        return cls(cls.fact, detail=detail, hint=cls.advice, errors=errors)


class UnknownField(InvalidDocument, code="API.UNKNOWN_FIELD"):
    """An unknown field."""

    fact = "there is no field of this name"
    advice = "Remove it or correct its name; the reference of documents lists those that exist."


class WrongType(InvalidDocument, code="API.WRONG_TYPE"):
    """A value of the wrong type, or a missing field."""

    fact = "a value is missing, of the wrong type or out of range"
    advice = "Correct it and try again."


class InvalidValue(InvalidDocument, code="API.INVALID_VALUE", sqlstate="WF231"):
    """A value of the right type that cannot be used."""

    fact = "a value is wrong"
    advice = "Correct it and try again."


class EmptyCommand(InvalidDocument, code="API.EMPTY_COMMAND"):
    """A command without a program."""

    fact = "a command is empty"
    advice = "Name a program; a document may leave `command` out for a job that does nothing."


class EnvironmentTooLarge(InvalidDocument, code="API.ENVIRONMENT_TOO_LARGE"):
    """The caller's environment is larger than a job's arguments and environment may be."""

    fact = "the environment is too large"
    advice = (
        "Leave variables out: `--no-env PATTERN` or `--clean-env`, with `--env NAME` for those "
        "that are needed; or raise the server's setting argv_bytes_max."
    )


class NulCharacter(InvalidDocument, code="API.NUL_CHARACTER"):
    """A NUL character where the operating system or the database cannot take one."""

    fact = "a text contains a NUL character"
    advice = "Remove it, or pass such data in a file."


class NoWorkerFits(InvalidDocument, code="API.NO_WORKER_FITS"):
    """A job that asks for more than any worker has."""

    fact = "a job asks for more than any worker has"
    advice = "Ask for at most what the largest worker has, or start a larger one."


class NotOffered(NoWorkerFits, code="API.NOT_OFFERED"):
    """A job that asks for something by a name that no worker offers."""

    fact = "a job asks for what no worker offers"
    advice = (
        "Correct the name; or let a worker offer it: its setting worker_offers, as rack=4, or "
        "`weft worker --label rack=12` for a word."
    )


class ParentNotFound(InvalidDocument, code="API.PARENT_NOT_FOUND", sqlstate="WF205"):
    """A parent that does not exist."""

    fact = "a job names a parent that does not exist"
    advice = "Name a job of the same document, or one that is already committed to the batch."


class ParentNotBelow(InvalidDocument, code="API.PARENT_NOT_BELOW"):
    """A parent whose number is not below its child's."""

    fact = "a parent is not numbered below its child"
    advice = "List parents before their children, or name parents instead of numbering them."


class ParentCycle(InvalidDocument, code="API.PARENT_CYCLE"):
    """Named parents that wait for each other."""

    fact = "jobs wait for each other in a cycle"
    advice = "Remove one of the parents on this path."


class ParentAmbiguous(InvalidDocument, code="API.PARENT_AMBIGUOUS"):
    """Several jobs have the name of a parent."""

    fact = "several jobs have the name of a parent"
    advice = "Give the jobs distinct names, or name the parent by its number."
