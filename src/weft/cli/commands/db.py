"""`weft db`: the database schema."""

from dataclasses import asdict
from typing import Annotated

from weft.cli.commands import db_views
from weft.cli.input.options import LOCAL, App, Local, Parameter
from weft.settings import Settings, load_settings

app = App(name="db", help="Show or migrate the database schema.")

app.command(db_views.app)

Database = Annotated[str | None, Parameter(name="--database")]


@app.command
def migrate(*, database: Database = None, shared: Local = LOCAL) -> None:
    """Migrate the schema to this program's version.

        weft db migrate

    Args:
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    from weft.run.admin import run_migrate  # noqa: PLC0415 (heavy: the server's side)

    applied = run_migrate(_settings(database, shared))
    if applied:
        shared.tell({"applied": applied}, "\n".join(applied), print)
    else:
        shared.tell({"applied": applied}, "the schema is up to date")


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
    from weft.run.admin import run_contract  # noqa: PLC0415 (heavy: the server's side)

    done = run_contract(_settings(database, shared), force=force)
    if done:
        shared.tell({"done": done}, "\n".join(done), print)
    else:
        shared.tell({"done": done}, "there is nothing to take away")


@app.command
def status(*, database: Database = None, shared: Local = LOCAL) -> None:
    """Show the versions of the schema, the program and the server.

        weft db status

    Args:
        database: DSN of the owner of an external PostgreSQL (default: this home's).
    """
    from weft.run.admin import run_status  # noqa: PLC0415 (heavy: the server's side)

    found = run_status(_settings(database, shared))
    shared.facts(asdict(found), {
        "Schema": found.version, "Program": found.program_version,
        "To apply": ", ".join(map(str, found.pending)) or "nothing",
        "To contract": ", ".join(found.to_contract) or "nothing",
        "Older programs": "; ".join(map(str, found.older_programs)) or "none connected",
        "Functions": "current" if found.functions_current else "replaced by `weft db migrate`",
        "PostgreSQL": found.server_version, "Problem": found.problem or "none",
    })  # fmt: skip


def _settings(database: str | None, shared: Local) -> Settings:
    return load_settings({"home": shared.home, "database": database})
