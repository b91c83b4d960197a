"""`weft db`: the database schema."""

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeVar

from weft.cli.input.options import LOCAL, App, Flag, Local, Parameter, bounded
from weft.cli.input.settings import settings_of
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import Document, at, note
from weft.core.errors import Invalid
from weft.core.text.amounts import counted, duration, size
from weft.settings import load_settings

views_app = App(
    name="views",
    help="Show, make or end logins of dashboards, which read views in SQL.\n\n"
    "    weft db views ls",
)
_LOGIN = re.compile(r"[a-z][a-z0-9_]{0,62}")
TIMEOUT_S = 10
CONNECTIONS = 5


class InvalidLogin(Invalid, code="CLI.INVALID_LOGIN"):
    """A role of PostgreSQL cannot have this name here."""


@views_app.command
def add(
    login: str,
    /,
    *,
    tenant: str = "default",
    timeout_s: Annotated[int, Parameter(validator=bounded(1, 3600))] = TIMEOUT_S,
    connections: Annotated[int, Parameter(validator=bounded(1, 100))] = CONNECTIONS,
    shared: Local = LOCAL,
) -> None:
    """Make a login that reads the views of one tenant, and print its DSN.

        weft db views add grafana --tenant snow

    The password in it is shown now and never again.

    Args:
        login: Name of the role in PostgreSQL.
        tenant: Whose jobs it sees.
        timeout_s: After how many seconds its queries are ended.
        connections: How many it may have at a time.
    """
    from weft.run.admin import run_add_view_login  # noqa: PLC0415 (heavy: the server's side)

    if not _LOGIN.fullmatch(login) or login.startswith(("pg_", "weft_")):
        raise InvalidLogin(
            f"a login cannot be called {login[:80]!r}",
            detail="Names that begin with pg_ or weft_ are taken.",
            hint="Choose a word of up to 63 small letters, digits and _, such as grafana.",
        )
    dsn = run_add_view_login(
        settings_of(shared), login, tenant=tenant, timeout_s=timeout_s, connections=connections
    )
    shared.tell({"login": login, "tenant": tenant, "dsn": dsn}, dsn, print)


@views_app.command(name="ls")
def list_logins(*, shared: Local = LOCAL) -> None:
    """List the logins of dashboards.

    weft db views ls
    """
    from weft.run.admin import ask_owner  # noqa: PLC0415 (heavy: the server's side)

    found = ask_owner(settings_of(shared), lambda admin: admin.list_view_logins())
    shared.table(
        found,
        {
            "Login": "login",
            "Tenant": "tenant",
            "Since": at("created_at"),
        },
        empty="no dashboard has a login; `weft db views add NAME` makes one",
    )


@views_app.command
def rm(login: str, /, *, shared: Local = LOCAL) -> None:
    """End a login of a dashboard.

        weft db views rm grafana

    Args:
        login: Its name.
    """
    from weft.run.admin import run_remove_view_login  # noqa: PLC0415 (heavy: the server's side)

    run_remove_view_login(settings_of(shared), login)
    shared.tell({"removed": login}, f"login {login} has ended")


if TYPE_CHECKING:
    from weft.run.admin import Question

app = App(name="db", help="Show or migrate the database schema.")

app.command(views_app)

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
    shared.facts(
        asdict(found),
        {
            "Schema": found.version,
            "Program": found.program_version,
            "To apply": ", ".join(map(str, found.pending)) or "nothing",
            "To contract": ", ".join(found.to_contract) or "nothing",
            "Older programs": "; ".join(map(str, found.older_programs)) or "none connected",
            "Functions": "current" if found.functions_current else "replaced by `weft db migrate`",
            "PostgreSQL": found.server_version,
            "Problem": found.problem or "none",
        },
    )


def _tell(answer: object, lines: Sequence[str], nothing: str, shared: Local) -> None:
    shared.tell(answer, "\n".join(lines) or nothing, print if lines else note)


def _text_of(step: Document) -> str:
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in step["statements"].items())
    locks = []
    for lock in step["locks"]:
        rows = "" if lock["n_rows"] is None else f", {counted(lock['n_rows'], 'row')}"
        locks.append(f"{lock['lock']} on {lock['table']}: {size(lock['n_bytes'])}{rows}")
    safe = {
        True: "safe while roles run",
        False: "stop the roles before: they would wait",
        None: "read its text: some statements may lock anything",
    }[step["safe"]]
    return "\n".join(
        [
            f"{step['name']} (`weft db {step['command']}`): {kinds}",
            *locks,
            f"{_about(step['seconds'])}; {safe}",
        ]
    )


def _about(seconds: float) -> str:
    return f"about {duration(1000 * seconds)}" if seconds else "at once"


def _ask(database: str | None, shared: Local, question: "Question[AnswerT]") -> AnswerT:
    from weft.run.admin import ask_owner  # noqa: PLC0415 (heavy: the server's side)

    return ask_owner(load_settings({"home": shared.home, "database": database}), question)
