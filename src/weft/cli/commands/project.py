"""`weft billing project`: who pays, how much, and who may charge it."""

from collections.abc import Awaitable, Callable
from typing import Literal

from weft.cli.commands.limit import read_amount, read_limit
from weft.cli.input.options import SHARED, App, Shared, Words, read_option
from weft.cli.terminal.screen import Document, note, one_line
from weft.client.api import Api
from weft.core.text.amounts import duration, money

app = App(
    name="project",
    help="Create, limit, close and delete billing projects, and say who their members are.\n\n"
    "    weft billing project create genomics",
)


@app.command
def create(name: str, /, *, limit: str = "none", shared: Shared = SHARED) -> None:
    """Create a billing project. Only for administrators of the tenant.

        weft billing project create genomics --limit 500

    You are its first member. A batch document names it: `billing_project`.

    Args:
        name: Name of the project; no other of the tenant may have it, in capitals or not.
        limit: What it may cost, or none.
    """
    cost_max = read_option("--limit", limit, read_amount)
    _tell(shared, lambda client: client.create_project(name, cost_max=cost_max))


@app.command
def members(name: str, /, *, add: Words = (), remove: Words = (), shared: Shared = SHARED) -> None:
    """Show the members of a billing project, or add and remove some.

        weft billing project members genomics --add bob --remove ann

    Only administrators of the tenant change them. Batches of a removed member go
    on and are billed.

    Args:
        name: Name of the project.
        add: A user who may submit to it from now on; may be repeated.
        remove: A user who may no longer; may be repeated.
    """

    async def change(client: Api) -> Document:
        for user in add:
            await client.add_project_member(name, user)
        for user in remove:
            await client.remove_project_member(name, user)
        return await client.get_project(name)

    _tell(shared, change)


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show a billing project: its cost, its limits, when it reaches them, its members.

        weft billing project show genomics

    Args:
        name: Name of the project.
    """
    _tell(shared, lambda client: client.get_project(name))


@app.command
def limit(
    name: str,
    amount: str | None = None,
    /,
    *,
    soft: str | None = None,
    on_limit: Literal["pause", "cancel"] | None = None,
    shared: Shared = SHARED,
) -> None:
    """Set what a billing project may cost. Only for administrators of the tenant.

        weft billing project limit genomics 500 --soft 400
        weft billing project limit genomics none

    At its limit nothing of the project starts and what runs is stopped; it goes
    on when the limit is raised. Beyond the soft limit it has half of its share.

    Args:
        name: Name of the project.
        amount: The amount, or none.
        soft: From what it cost on its jobs have half of their share, or none.
        on_limit: Whether its batches are paused or cancelled at the limit.
    """
    if changes := read_limit("cost", amount, soft, on_limit):
        _tell(shared, lambda client: client.change_project(name, changes))
    else:
        show(name, shared=shared)


@app.command
def close(name: str, /, *, shared: Shared = SHARED) -> None:
    """Close a billing project: it takes no new batches. Only for administrators.

        weft billing project close genomics

    The batches that it has go on and are billed.

    Args:
        name: Name of the project.
    """
    _tell(shared, lambda client: client.change_project(name, {"closed": True}))


@app.command
def reopen(name: str, /, *, shared: Shared = SHARED) -> None:
    """Let a closed billing project take new batches again. Only for administrators.

        weft billing project reopen genomics

    Args:
        name: Name of the project.
    """
    _tell(shared, lambda client: client.change_project(name, {"closed": False}))


@app.command
def delete(name: str, /, *, shared: Shared = SHARED) -> None:
    """Delete a closed billing project for good. Only for administrators.

        weft billing project delete genomics

    It is in no list any more. Its batches stay, and its name stays taken.

    Args:
        name: Name of the project.
    """
    shared.ask(lambda client: client.delete_project(name))
    shared.tell({"name": name}, f"billing project {one_line(name, width=64)} is deleted")


def _tell(shared: Shared, ask: Callable[[Api], Awaitable[Document]]) -> None:
    found = shared.ask(ask)
    if shared.as_json(found):
        return
    state = "closed" if found["closed"] else "open"
    limits = ", ".join(limits_of(found)) or "no limit"
    names = ", ".join(one_line(user, width=64) for user in found["members"]) or "nobody"
    note(f"{one_line(found['name'], width=64)} is {state}, {limits}; members: {names}")
    if found["limit_in_s"] is not None:
        left = duration(found["limit_in_s"] * 1000)
        note(
            f"at this rate ({money(found['cost_per_hour'])} an hour) "
            f"it reaches its limit in {left}"
        )


def limits_of(project: Document) -> list[str]:
    """Say the limits of a project, and what they do to it now."""
    facts = []
    if project["cost_max"] is not None:
        facts.append(f"limit {money(project['cost_max'])}")
    if project["cost_soft_max"] is not None:
        facts.append(f"soft limit {money(project['cost_soft_max'])}")
    words = {
        "near": "near its limit",
        "slowed": "slowed down",
        "paused": "paused at its limit",
        "cancelled": "cancelled at its limit",
    }
    if project["limit_state"] in words:
        facts.append(words[project["limit_state"]])
    elif project["on_limit"] == "cancel":
        facts.append("cancels at its limit")
    return facts
