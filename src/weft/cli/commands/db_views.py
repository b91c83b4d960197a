"""`weft db views`: logins of dashboards, which read views in SQL."""

import re
from typing import Annotated

from weft.cli.input.options import LOCAL, App, Local, Parameter, bounded
from weft.cli.input.settings import settings_of
from weft.cli.terminal.screen import at
from weft.core.errors import Invalid

app = App(
    name="views",
    help="Show, make or end logins of dashboards, which read views in SQL.\n\n"
    "    weft db views ls",
)
_LOGIN = re.compile(r"[a-z][a-z0-9_]{0,62}")
TIMEOUT_S = 10
CONNECTIONS = 5


class InvalidLogin(Invalid, code="CLI.INVALID_LOGIN"):
    """A role of PostgreSQL cannot have this name here."""


@app.command
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


@app.command(name="ls")
def list_logins(*, shared: Local = LOCAL) -> None:
    """List the logins of dashboards.

    weft db views ls
    """
    from weft.run.admin import ask_owner  # noqa: PLC0415 (heavy: the server's side)

    found = ask_owner(settings_of(shared), lambda admin: admin.list_view_logins())
    shared.table(found, {
        "Login": "login", "Tenant": "tenant", "Since": at("created_at"),
    }, empty="no dashboard has a login; `weft db views add NAME` makes one")  # fmt: skip


@app.command
def rm(login: str, /, *, shared: Local = LOCAL) -> None:
    """End a login of a dashboard.

        weft db views rm grafana

    Args:
        login: Its name.
    """
    from weft.run.admin import run_remove_view_login  # noqa: PLC0415 (heavy: the server's side)

    run_remove_view_login(settings_of(shared), login)
    shared.tell({"removed": login}, f"login {login} has ended")
