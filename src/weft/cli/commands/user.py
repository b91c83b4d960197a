"""`weft user`: who belongs to a tenant, and what they may do."""

import sys
from typing import Annotated

from weft.cli.input.limit_options import parse_deadline
from weft.cli.input.options import SHARED, App, Parameter, Shared, read_option
from weft.cli.terminal.plain import moment
from weft.cli.terminal.screen import at, note, one_line, text
from weft.wire.documents.users import Role

app = App(
    name="user",
    help="List, add and remove the users of your tenant, and give them roles.\n\n"
    "    weft user add bob --role operator",
)


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List the users of your tenant, for its administrators.

    weft user ls
    """
    users = shared.ask_all(lambda client: client.list_users())
    shared.table(
        users,
        {
            "User": text("name", 64),
            "Role": "role",
            "Weight": "weight",
            "Last seen": at("last_seen_at", "-"),
        },
        spare=("Last seen", "Weight"),
    )


@app.command
def add(
    name: str,
    /,
    *,
    role: Role = "user",
    trusted: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> None:
    """Let a user into your tenant, and print their first token, for the only time.

        weft user add bob --role operator

    Hand the token over: with WEFT_URL and WEFT_TOKEN set, weft works for them.
    The user is a member of the billing project `default`, whose members may
    cancel and delete each other's batches. One who was removed comes back with
    their batches. Only for administrators of the tenant.

    Args:
        name: Name of the user; no other of the tenant may have it, in capitals or not.
        role: What they may do, at most what you may.
        trusted: Their jobs may do what the account of the server may, which reads the tokens of
            all: without it they are let in only where jobs run in sandboxes or as their users.
    """
    user = shared.ask(lambda client: client.add_user(name, role=role, trusted=trusted))
    if shared.as_json(user):
        return
    sys.stdout.write(f"{user['token']}\n")
    shown = one_line(user["name"], width=64)
    note(f"{shown} is a user with role {user['role']}; the token is not shown again")
    note(
        "members of the billing project `default` see and may cancel each other's batches; "
        f"`weft billing project members default --remove {shown}` takes {shown} out"
    )


@app.command(name="role")
def set_role(name: str, role: Role, /, *, shared: Shared = SHARED) -> None:
    """Give a user another role, from now on.

        weft user role bob viewer

    The last administrator of a tenant keeps the role. Only for administrators of
    the tenant, who give no role that may do more than theirs.

    Args:
        name: Name of the user.
        role: What they may do.
    """
    user = shared.ask(lambda client: client.set_user_role(name, role))
    shared.tell(user, f"{one_line(user['name'], width=64)} has role {user['role']}")


@app.command(name="weight")
def set_weight(
    name: str, weight: int, /, *, until: str | None = None, shared: Shared = SHARED
) -> None:
    """Give a user a larger part of the machines, for good or until a date.

        weft user weight bob 3 --until 2027-01-01

    Of two users with work, one of weight 3 gets three times as much as one of
    weight 1, which all have at first. `weft pool shares` shows it. Only for
    administrators of the site.

    Args:
        name: Name of the user.
        weight: From 1 to 1000.
        until: Then the weight is 1 again: 2h, 18:00 or 2027-01-01T02:00.
    """
    end = None if until is None else read_option("--until", until, parse_deadline)
    user = shared.ask(lambda client: client.set_user_weight(name, weight, until=end))
    last = f" until {moment(user['weight_until'])}" if end else ""
    shared.tell(user, f"{one_line(user['name'], width=64)} has weight {user['weight']}{last}")


@app.command(name="rm")
def remove(
    name: str,
    /,
    *,
    cancel_batches: Annotated[bool | None, Parameter(negative="--finish-batches")] = None,
    shared: Shared = SHARED,
) -> None:
    """Remove a user: their tokens are refused, and their schedules are paused.

        weft user rm bob
        weft user rm bob --cancel-batches

    What they submitted goes on to its end and is billed, or is cancelled: the
    options say which; without them `weft tenant set --on-user-removal` does.
    Their batches stay; `weft user add` brings the user back. Only for
    administrators of the tenant.

    Args:
        name: Name of the user.
        cancel_batches: Cancel their batches, or let them finish.
    """
    user = shared.ask(lambda client: client.remove_user(name, cancel_batches=cancel_batches))
    is_cancelled = user["on_user_removal"] == "cancel"
    end = f"batches cancelled: {user['n_cancelled']}" if is_cancelled else "their batches finish"
    shared.tell(user, f"{one_line(user['name'], width=64)} is removed; {end}")
