"""Options that every command takes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from weft.cli.input.signature import App, Parameter
from weft.cli.input.values import bounded
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import Columns, Document, print_columns, print_facts, print_json
from weft.client.api import PATIENCE_S, Api
from weft.client.http.blocking import run

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
