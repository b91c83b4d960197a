"""`weft tenant`: closed worlds of users on one server."""

import sys
from collections.abc import Mapping
from typing import Any

from cyclopts import App

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json, print_table

app = App(
    name="tenant",
    help="List and create tenants, whose users see nothing of each other.\n\n"
    "    weft tenant create acme --admin ann",
)

HEADER = ("Tenant", "Users")
Document = Mapping[str, Any]


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> int:
    """List all tenants, for administrators of the site (role admin).

        weft tenant ls

    Args:
        shared: Options of every command.
    """
    found = shared.ask_all(lambda client: client.list_tenants())
    if shared.json:
        print_json(found)
        return 0
    rows = [(one_line(one["name"], width=64), str(one["n_users"])) for one in found]
    print_table(HEADER, rows, right=("Users",))
    return 0


@app.command
def create(name: str, /, *, admin: str, shared: Shared = SHARED) -> int:
    """Create a tenant, and print the token of its first user, for the only time.

        weft tenant create acme --admin ann

    The first user has role tenant-admin and lets others in with `weft user add`.
    The tenant has a billing project and a queue `default`; its jobs run on the
    pool that all tenants share. Only for administrators of the site.

    Args:
        name: Name of the tenant; no other may have it, in capitals or not.
        admin: Name of its first user.
        shared: Options of every command.
    """
    found = shared.ask(lambda client: client.create_tenant(name, admin=admin))
    if shared.json:
        print_json(found)
        return 0
    sys.stdout.write(f"{found['token']}\n")
    tenant, user = (one_line(found[key], width=64) for key in ("name", "admin"))
    note(f"tenant {tenant} has its first user {user}; the token is not shown again")
    return 0
