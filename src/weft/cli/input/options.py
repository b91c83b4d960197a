"""Options that every command takes; values of options, and attributes and texts as words of a
command line. The limits of numbers that cyclopts has take 3 ms to import.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

from weft.cli.input.signature import App, Parameter
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import Columns, Document, print_columns, print_facts, print_json
from weft.client.api import PATIENCE_S, Api
from weft.client.http.blocking import run
from weft.core.errors import Invalid
from weft.core.text.texts import is_utf8

Value = TypeVar("Value")


class WrongOption(Invalid, code="CLI.WRONG_OPTION"):
    """An option with an impossible value."""


def read_option(option: str, text: str, parse: Callable[[str], Value]) -> Value:
    """Return the value of an option. Raise `WrongOption` with its name."""
    try:
        return parse(text)
    except ValueError as error:
        raise WrongOption(
            f"the value of {option} is wrong",
            detail=f"{str(error)[:1].upper()}{str(error)[1:]}.",
            hint="`--help` shows the form of each option.",
        ) from error


def need_one(noun: str, **given: object) -> None:
    """Raise `WrongOption` unless exactly one of these options says whose limit or quota is set."""
    if sum(one not in {None, False} for one in given.values()) != 1:
        options = [f"--{name.replace('_', '-')}" for name in given]
        raise WrongOption(
            f"it is not clear whose {noun} is set",
            detail=f"Exactly one of {', '.join(options[:-1])} and {options[-1]} says it.",
            hint=f"`weft {noun} set --help` shows examples.",
        )


def in_our_zone(at: datetime, refused: str) -> datetime:
    """Return a time in the zone of this host. Raise `Invalid` with the text `refused` for one that
    this host cannot tell.
    """
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError) as error:
        raise Invalid(
            refused, detail=f"{error}.", hint="Write it as 2027-01-01T00:00:00."
        ) from error


class NotAnAttribute(Invalid, code="CLI.NOT_AN_ATTRIBUTE"):
    """An argument that is not `key=value`."""

    advice = "Write key=value to set an attribute, and key= to remove it."


def parse_attribute(word: str) -> tuple[str, str | None]:
    """Return key and value of `key=value`, of `key=` None."""
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise NotAnAttribute(
            f"{word[:80]!r} is not an attribute", detail="It has no key, or no '=' after it."
        )
    return key, value or None


class NotUtf8(Invalid, code="CLI.NOT_UTF8"):
    """Bytes that are not valid UTF-8 text."""

    advice = "Pass such bytes in a file: arguments and standard input travel as UTF-8 text."


def check_text(texts: Sequence[str]) -> None:
    """Raise `NotUtf8` if one of these came from bytes that are not UTF-8."""
    for text in texts:
        if not is_utf8(text):
            shown = text.encode("utf-8", "backslashreplace").decode()
            raise NotUtf8(
                f"{shown!r} is not valid UTF-8",
                detail="Commands must be valid UTF-8 text.",
                hint="Rename the file, or use a pattern or a symbolic link to it.",
            )


def bounded(least: float, most: float | None = None) -> Callable[[object, float | None], None]:
    """Return a validator of cyclopts that refuses numbers outside of these limits, and NaN."""

    def check(_kind: object, value: float | None) -> None:
        if value is None:
            return
        if not value >= least:
            raise ValueError(f"must be at least {least}")
        if most is not None and not value <= most:
            raise ValueError(f"must be at most {most}")

    return check


__all__ = ["App", "Parameter"]

AnswerT = TypeVar("AnswerT")
Flag = Annotated[bool, Parameter(negative="")]
AllFlag = Annotated[bool, Parameter(name=["--all", "-a"], negative="")]
Words = Annotated[tuple[str, ...], Parameter(negative="")]
Limit = Annotated[int, Parameter(name=["--limit", "-n"], validator=bounded(0))]
"""How many lines of a list; 0: all."""
Number = Annotated[int, Parameter(name="ID", validator=bounded(1))]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Local:
    """Options of commands that ask no server."""

    home: Path | None = None
    """Directory of the database, logs and token (default: WEFT_HOME)."""

    json: Flag = False
    """Print JSON."""

    def as_json(self, answer: object) -> bool:
        """Print an answer as JSON if that is asked for; return whether it is."""
        if self.json:
            print_json(answer)
        return self.json

    def tell(self, answer: object, text: str, say: Callable[[str], object] = note) -> int:
        """Print an answer, or what it comes to; return the exit code of a success."""
        if not self.as_json(answer):
            say(text)
        return 0

    def table(
        self,
        rows: Collection[Document],
        columns: Columns,
        *,
        right: Sequence[str] = (),
        spare: Sequence[str] | None = None,
        empty: str = "",
    ) -> int:
        """Print documents, or the columns of a table of them; return the exit code of a success.
        The rest is as in `print_table`.
        """
        if not self.as_json(rows):
            print_columns(columns, rows, right=right, spare=spare, empty=empty)
        return 0

    def facts(self, answer: object, facts: Mapping[str, object]) -> None:
        """Print an answer, or its names and values."""
        if not self.as_json(answer):
            print_facts(facts)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Shared(Local):
    """Options of commands that ask a server."""

    visit: str | None = None
    """Look into this tenant, for administrators of the site (default: WEFT_VISIT)."""

    def client(
        self, *, patience_s: float = PATIENCE_S, on_outage: Callable[[str], None] | None = None
    ) -> Api:
        """Return a client for the server of this home, or of WEFT_URL. `on_outage` is told why
        the server does not answer; default: a note on standard error.
        """
        told = on_outage or say_outage
        return Api(home=self.home, visit=self.visit, patience_s=patience_s, on_outage=told)

    def ask(self, question: Callable[[Api], Awaitable[AnswerT]]) -> AnswerT:
        """Return what the server answers to one question."""

        async def answered() -> AnswerT:
            async with self.client() as client:
                return await question(client)

        return run(answered())

    def ask_all(
        self, question: Callable[[Api], AsyncIterator[AnswerT]], limit: int = 0
    ) -> list[AnswerT]:
        """Return what the server answers to a question whose answer has many parts: the first
        `limit` of them; 0: all.
        """
        return self.ask(lambda client: first_of(question(client), limit))


async def first_of(rows: AsyncIterator[AnswerT], limit: int) -> list[AnswerT]:
    """Return the first rows of a listing; 0: all."""
    found: list[AnswerT] = []
    async for row in rows:
        found.append(row)
        if len(found) == limit:
            break
    return found


def say_outage(why: str) -> None:
    """Say that the server does not answer."""
    note(f"the server does not answer ({why}); trying again")


LOCAL = Local()
SHARED = Shared()
