"""`weft queue`: where jobs wait."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.declared import (
    apply_changes,
    placed,
    read_file,
    refuse_nothing,
    tables_in,
    text_of,
)
from weft.cli.input.documents import format_of, parse_document, refuse_queues
from weft.cli.input.job_file import expand
from weft.cli.input.options import SHARED, Shared
from weft.cli.input.signature import App, Parameter
from weft.cli.terminal.plain import cell, plain
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_facts, print_table
from weft.cli.terminal.wrapped import wrapped
from weft.core.errors import Invalid
from weft.wire.documents.queues import QueueDocument

app = App(
    name="queue",
    help="Show and change queues, and test which one takes a job.\n\n    weft queue ls",
)

Document = Mapping[str, Any]


class QueuesNotConfirmed(Invalid):
    """The change of queues cannot be confirmed."""

    code = "CLI.QUEUES_NOT_CONFIRMED"
    advice = "Add --yes to change them without a question, or --dry-run to see the changes."


@app.command(name="ls")
def list_queues(*, shared: Shared = SHARED) -> None:
    """List the queues in the order in which their guards are asked.

    weft queue ls
    """
    found = shared.ask(lambda client: client.list_queues())
    if shared.as_json(found):
        return
    header = ("Queue", "Priority", "State", "Waiting", "Running", "Pools", "Guard")
    rows = [
        (
            one["name"],
            "" if one["priority"] is None else one["priority"],
            one["state"],
            _of_limit(one["n_waiting"], one["max_waiting"]),
            _of_limit(one["n_running"], one["max_running"]),
            ", ".join(one["pools"]),
            cell(one["guard"] or "", width=60),
        )
        for one in found
    ]
    print_table(header, rows, right=("Priority", "Waiting", "Running"), spare=("Pools", "Guard"))


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show a queue with all its fields.

        weft queue show short

    Args:
        name: Name of the queue.
    """
    found = shared.ask(lambda client: client.get_queue(name))
    if shared.as_json(found):
        return
    names = [*QueueDocument.__struct_fields__, *found]
    print_facts({
        name: None if found[name] is None else text_of(found[name])
        for name in dict.fromkeys(names)
        if name in found
    })  # fmt: skip


@app.command
def apply(
    file: Path,
    /,
    *,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    yes: Annotated[bool, Parameter(negative="")] = False,
    delete_all: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Change the queues to what a file describes: show the difference, ask, change.

        weft queue apply queues.toml

    Queues that are not in the file are deleted, except `default`. Waiting jobs
    stay where they are. Only for administrators.

    Args:
        file: TOML with tables `[[queue]]`.
        dry_run: Only show the difference.
        yes: Do not ask.
        delete_all: Accept a file that describes no queues.
    """
    body = read_file(file)
    queues = _queues_in(file, body)
    if not delete_all:
        refuse_nothing(file, "queue", queues)
    with placed(file, body, {"queues": queues}, shared):
        return asyncio.run(_apply(queues, shared, dry_run=dry_run, yes=yes))


@app.command
def reroute(
    *,
    queue: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> None:
    """Move waiting jobs to the queues that the guards choose now.

        weft queue reroute --dry-run

    Jobs that name their queue, and those that have run before, stay where they
    are. Only for administrators.

    Args:
        queue: Only jobs of this queue.
        dry_run: Only show how many would move.
    """
    moves = shared.ask(lambda client: client.reroute_queues(queue=queue, dry_run=dry_run))
    if shared.as_json(moves):
        return
    _print_moves(moves)
    if not moves:
        note("every waiting job is where the guards want it")
    elif dry_run:
        note("nothing was moved")


@app.command
def drain(name: str, /, *, move_to: str | None = None, shared: Shared = SHARED) -> None:
    """Stop a queue from taking jobs. The jobs it has still run; then it is closed.

        weft queue drain short --move-to large

    To enable it again, apply a file that says so. Only for administrators.

    Args:
        name: Name of the queue.
        move_to: Move the jobs that wait there to this queue; those that have run before stay.
    """
    done, moves = asyncio.run(_drain(name, move_to, shared))
    if not shared.as_json(done):
        _print_moves(moves)
        note(f"queue {plain(name)} takes no more jobs; `weft queue ls` shows what is left")


@app.command(name="test")
def try_document(file: Path, /, *, shared: Shared = SHARED) -> None:
    """Show which queue takes the jobs of a document, and why each earlier one does not.

        weft queue test pipeline.yaml

    Nothing is submitted.

    Args:
        file: A batch document: YAML, TOML or JSON.
    """
    body = read_file(file)
    document = parse_document(body, format_of(str(file)), name=str(file))
    refuse_queues(document, str(file))
    with placed(file, body, document, shared):
        found = asyncio.run(_test(expand(document, directory=file.parent), shared))
    if shared.as_json(found):
        return
    for route in found["routes"]:
        jobs = route["jobs"]
        print(f"{_places(jobs)}: {route['queue']}")
        for verdict in route["verdicts"]:
            if not verdict["takes"]:
                text = plain(f"not {verdict['queue']}: {verdict['reason']}")
                print(wrapped(text, sys.stdout, first="  ", rest=" " * 4))


async def _drain(
    name: str, move_to: str | None, shared: Shared
) -> tuple[Document, Sequence[Document]]:
    async with shared.client() as client:
        if move_to is not None:
            await client.get_queue(move_to)
        done = await client.drain_queue(name)
        if move_to is None:
            return done, ()
        moves = await client.reroute_queues(queue=name, to=move_to)
        return await client.get_queue(name), moves


async def _test(document: Document, shared: Shared) -> Document:
    async with shared.client() as client:
        return await client.test_queues(document)


async def _apply(queues: Sequence[Document], shared: Shared, *, dry_run: bool, yes: bool) -> int:
    async with shared.client() as client:
        return await apply_changes(
            partial(client.save_queues, queues),
            "queue",
            dry_run=dry_run,
            yes=yes,
            as_json=shared.json,
            refused=QueuesNotConfirmed,
            note_done="the queues are saved; waiting jobs stay where they are",
        )


def _print_moves(moves: Sequence[Document]) -> None:
    for move in moves:
        count = move["n_jobs"]
        print(plain(f"{move['queue']} → {move['to']}: {count:,} job{'s' if count != 1 else ''}"))


def _queues_in(file: Path, body: bytes) -> Sequence[Document]:
    return tables_in(
        file,
        body,
        "queue",
        example='name = "short", priority = 10, guard = "…"',
        otherwise="`weft queue test FILE` shows which queues take the jobs of a batch document.",
    )


def _places(jobs: Sequence[int]) -> str:
    if len(jobs) == 1:
        return f"job {jobs[0]}"
    shown = ", ".join(map(str, jobs[:5]))
    return f"{len(jobs):,} jobs ({shown}{', …' if len(jobs) > 5 else ''})"  # noqa: PLR2004 (a line)


def _of_limit(count: int | None, limit: int | None) -> str:
    shown = "–" if count is None else str(count)
    return shown if limit is None else f"{shown}/{limit}"
