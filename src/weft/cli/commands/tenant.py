"""`weft tenant`: closed worlds of users on one server."""

import sys
from collections.abc import Callable
from typing import Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared, Words, WrongOption, read_option
from weft.cli.terminal.screen import Document, note, one_line, text
from weft.core.billing.resources import parse_bytes
from weft.core.text.amounts import counted, duration, size
from weft.core.text.durations import parse_seconds
from weft.wire.documents.tenants import AllowedKind, OnUserRemoval

app = App(
    name="tenant",
    help="List, create and set up tenants, whose users see nothing of each other.\n\n"
    "    weft tenant create acme --admin ann",
)

WIDTH = 64


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List all tenants, for administrators of the site (role admin).

    weft tenant ls
    """
    found = shared.ask_all(lambda client: client.list_tenants())
    shared.table(
        found,
        {
            "Tenant": text("name", 64),
            "Users": "n_users",
            "On user removal": "on_user_removal",
        },
        right=("Users",),
    )


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show a tenant: its users, what happens when one is removed, what jobs may choose.

        weft tenant show acme

    Administrators of a tenant see theirs, those of the site all.

    Args:
        name: Name of the tenant; `weft whoami` prints yours.
    """
    _tell(shared, shared.ask(lambda client: client.get_tenant(name)))


@app.command(name="set")
def set_one(
    name: str,
    /,
    *,
    on_user_removal: OnUserRemoval | None = None,
    allow: Words = (),
    allow_any: Annotated[tuple[AllowedKind, ...], Parameter(negative="")] = (),
    output_keep: str | None = None,
    output_keep_bytes: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Say what holds in a tenant: when a user is removed, what its jobs may choose, how long
    output is kept.

        weft tenant set acme --on-user-removal cancel
        weft tenant set acme --allow 'image=docker://registry.example/*'
        weft tenant set acme --output-keep 30d

    Batches of a removed user go on to their end, unless this says that they are
    cancelled. `weft user rm` may say otherwise. What workers and gateways forbid
    stays forbidden. Only for administrators of the tenant, and of the site.

    Args:
        name: Name of the tenant; `weft whoami` prints yours.
        on_user_removal: Whether batches of a removed user finish or are cancelled.
        allow: KIND=PATTERN: jobs may choose this image, partition, account, qos,
            constraint, gres or reservation, and of the kind nothing that no --allow
            names; KIND= alone: nothing.
        allow_any: A kind of which jobs may choose again what workers and gateways allow.
        output_keep: How long output and files of a batch are kept after its end, as in 30d;
            0: as long as the batch.
        output_keep_bytes: How much may be stored, as in 500G, before the output and files
            of the batches that ended first are removed; 0: any amount.
    """
    allowed: dict[str, list[str] | None] = dict.fromkeys(allow_any)
    for kind, _, pattern in (one.partition("=") for one in allow):
        patterns = allowed.get(kind) or []
        allowed[kind] = [*patterns, pattern] if pattern else patterns
    changes = {
        "on_user_removal": on_user_removal,
        "allowed": allowed or None,
        "output_keep_s": _read("--output-keep", output_keep, _seconds),
        "output_keep_bytes": _read("--output-keep-bytes", output_keep_bytes, parse_bytes),
    }
    given = {key: value for key, value in changes.items() if value is not None}
    if not given:
        raise WrongOption(
            "nothing to change", hint="Give --on-user-removal, --allow or --output-keep."
        )
    _tell(shared, shared.ask(lambda client: client.set_tenant(name, given)))


@app.command
def create(
    name: str,
    /,
    *,
    admin: str,
    trusted: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> None:
    """Create a tenant, and print the token of its first user, for the only time.

        weft tenant create acme --admin ann

    The first user has role tenant-admin and lets others in with `weft user add`.
    The tenant has a billing project and a queue `default`; its jobs run on the
    pool that all tenants share. Only for administrators of the site.

    Args:
        name: Name of the tenant; no other may have it, in capitals or not.
        admin: Name of its first user.
        trusted: Jobs of its users may do what the account of the server may, which reads the
            tokens of all: without it a tenant is made only where jobs run in sandboxes or as
            their users.
    """
    found = shared.ask(lambda client: client.create_tenant(name, admin=admin, trusted=trusted))
    if shared.as_json(found):
        return
    sys.stdout.write(f"{found['token']}\n")
    tenant, user = (one_line(found[key], width=WIDTH) for key in ("name", "admin"))
    note(f"tenant {tenant} has its first user {user}; the token is not shown again")


def _read(option: str, text: str | None, parse: Callable[[str], int]) -> int | None:
    return None if text is None else read_option(option, text, parse)


def _seconds(text: str) -> int:
    return 0 if text == "0" else max(1, round(parse_seconds(text)))


def _tell(shared: Shared, found: Document) -> None:
    if shared.as_json(found):
        return
    name, n_users = one_line(found["name"], width=WIDTH), found["n_users"]
    ends = {"finish": "finish", "cancel": "are cancelled"}
    note(
        f"tenant {name}: {counted(n_users, 'user')}; batches of removed users "
        f"{ends[found['on_user_removal']]}"
    )
    if found["output_keep_s"]:
        keep = duration(found["output_keep_s"] * 1000)
        note(f"output and files are kept for {keep} after the end of a batch")
    if found["output_keep_bytes"]:
        note(
            f"the oldest output and files go when more than {size(found['output_keep_bytes'])} "
            "are stored"
        )
    for kind, patterns in sorted(found["allowed"].items()):
        text = one_line(", ".join(patterns), width=500) or "none"
        note(f"its jobs may choose of {kind}: {text}")
