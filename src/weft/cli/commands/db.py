"""`weft db`: the database schema."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeVar

from weft.cli.commands import db_views
from weft.cli.input.options import LOCAL, App, Flag, Local, Parameter
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import Document, note
from weft.core.text.amounts import counted, duration, size
from weft.settings import load_settings

if TYPE_CHECKING:
    from weft.run.admin import Question

app = App(name="db", help="Show or migrate the database schema.")

app.command(db_views.app)

AnswerT = TypeVar("AnswerT")
Database = Annotated[str | None, Parameter(name="--database")]


@app.command
def migrate(*, plan: Flag = False, database: Database = None, shared: Local = LOCAL) -> None:
    """Migrate the schema to this program's version.

        weft db migrate
        weft db migrate --plan

    Args:
        plan: Change nothing; show each step, its locks and about how long it takes.
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    if plan:
        steps = _ask(database, shared, lambda admin: admin.plan_migration())
        documents = [asdict(step) for step in steps]
        seconds = sum(step.seconds for step in steps)
        lines = [wrapped(_text_of(step), sys.stdout) for step in documents]
        lines += [f"in all {_about(seconds)}; nothing was changed"] if steps else []
        answer = {"steps": documents, "seconds": seconds}
        _tell(answer, lines, "the schema is up to date", shared)
        return
    applied = _ask(database, shared, lambda admin: admin.migrate())
    _tell({"applied": applied}, applied, "the schema is up to date", shared)


@app.command
def contract(*, force: bool = False, database: Database = None, shared: Local = LOCAL) -> None:
    """Remove what only programs of earlier releases use.

        weft db contract

    Run it when every api, driver and worker is of this release; until then it is
    refused.

    Args:
        force: Go on although older programs are connected; their calls will fail.
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    done = _ask(database, shared, lambda admin: admin.contract(force=force))
    _tell({"done": done}, done, "there is nothing to take away", shared)


@app.command
def status(*, database: Database = None, shared: Local = LOCAL) -> None:
    """Show the versions of the schema, the program and the server.

        weft db status

    Args:
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    found = _ask(database, shared, lambda admin: admin.status())
    shared.facts(asdict(found), {
        "Schema": found.version, "Program": found.program_version,
        "To apply": ", ".join(map(str, found.pending)) or "nothing",
        "To contract": ", ".join(found.to_contract) or "nothing",
        "Older programs": "; ".join(map(str, found.older_programs)) or "none connected",
        "Functions": "current" if found.functions_current else "replaced by `weft db migrate`",
        "PostgreSQL": found.server_version, "Problem": found.problem or "none",
    })  # fmt: skip


def _tell(answer: object, lines: Sequence[str], nothing: str, shared: Local) -> None:
    shared.tell(answer, "\n".join(lines) or nothing, print if lines else note)


def _text_of(step: Document) -> str:
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in step["statements"].items())
    locks = []
    for lock in step["locks"]:
        rows = "" if lock["n_rows"] is None else f", {counted(lock['n_rows'], 'row')}"
        locks.append(f"{lock['lock']} on {lock['table']}: {size(lock['n_bytes'])}{rows}")
    safe = {True: "safe while roles run", False: "stop the roles before: they would wait",
            None: "read its text: some statements may lock anything"}[step["safe"]]  # fmt: skip
    return "\n".join([
        f"{step['name']} (`weft db {step['command']}`): {kinds}", *locks,
        f"{_about(step['seconds'])}; {safe}",
    ])  # fmt: skip


def _about(seconds: float) -> str:
    return f"about {duration(1000 * seconds)}" if seconds else "at once"


def _ask(database: str | None, shared: Local, question: "Question[AnswerT]") -> AnswerT:
    from weft.run.admin import ask_owner  # noqa: PLC0415 (heavy: the server's side)

    return ask_owner(load_settings({"home": shared.home, "database": database}), question)
