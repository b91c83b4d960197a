"""`weft queue`: where jobs wait."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from weft.cli.input.declared import ASKED, Applying, apply_file, placed, read_file, text_of
from weft.cli.input.documents import format_of, parse_document, refuse_queues
from weft.cli.input.job_file import expand
from weft.cli.input.options import SHARED, App, Flag, Shared
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import Document, long_text, note, plain
from weft.client.api import Api
from weft.core.text.amounts import counted
from weft.wire.documents.queues import QueueDocument

app = App(
    name="queue",
    help="Show and change queues, and test which one takes a job.\n\n    weft queue ls",
)


@app.command(name="ls")
def list_queues(*, shared: Shared = SHARED) -> None:
    """List the queues in the order in which their guards are asked.

    weft queue ls
    """
    found = shared.ask(lambda client: client.list_queues())
    shared.table(
        found,
        {
            "Queue": "name",
            "Priority": lambda row: "" if row["priority"] is None else row["priority"],
            "State": "state",
            "Waiting": lambda row: _of_limit(row["n_waiting"], row["max_waiting"]),
            "Running": lambda row: _of_limit(row["n_running"], row["max_running"]),
            "Pools": lambda row: ", ".join(row["pools"]),
            "Guard": long_text("guard", 60),
        },
        right=("Priority", "Waiting", "Running"),
        spare=("Pools", "Guard"),
    )


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show a queue with all its fields.

        weft queue show short

    Args:
        name: Name of the queue.
    """
    found = shared.ask(lambda client: client.get_queue(name))
    names = [*QueueDocument.__struct_fields__, *found]
    shared.facts(
        found,
        {
            name: None if found[name] is None else text_of(found[name])
            for name in dict.fromkeys(names)
            if name in found
        },
    )


@app.command
def apply(file: Path, /, *, how: Applying = ASKED, shared: Shared = SHARED) -> int:
    """Change the queues to what a file describes: show the difference, ask, change.

        weft queue apply queues.toml

    Queues that are not in the file are deleted, except `default`. Waiting jobs
    stay where they are. Only for administrators.

    Args:
        file: TOML with tables `[[queue]]`.
    """
    return apply_file(
        file,
        "queue",
        lambda client, queues: partial(client.save_queues, queues),
        shared,
        how,
        example='name = "short", priority = 10, guard = "…"',
        otherwise="`weft queue test FILE` shows which queues take the jobs of a batch document.",
        note_done="the queues are saved; waiting jobs stay where they are",
    )


@app.command
def reroute(*, queue: str | None = None, dry_run: Flag = False, shared: Shared = SHARED) -> None:
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
    done, moves = shared.ask(lambda client: _drain(client, name, move_to))
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
        jobs = expand(document, directory=file.parent)
        found = shared.ask(lambda client: client.test_queues(jobs))
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
    client: Api, name: str, move_to: str | None
) -> tuple[Document, Sequence[Document]]:
    if move_to is None:
        return await client.drain_queue(name), ()
    await client.get_queue(move_to)
    await client.drain_queue(name)
    moves = await client.reroute_queues(queue=name, to=move_to)
    return await client.get_queue(name), moves


def _print_moves(moves: Sequence[Document]) -> None:
    for move in moves:
        print(plain(f"{move['queue']} → {move['to']}: {counted(move['n_jobs'], 'job')}"))


def _places(jobs: Sequence[int]) -> str:
    if len(jobs) == 1:
        return f"job {jobs[0]}"
    shown = ", ".join(map(str, jobs[:5]))
    return f"{counted(len(jobs), 'job')} ({shown}{', …' if len(jobs) > 5 else ''})"  # noqa: PLR2004 (a line)


def _of_limit(count: int | None, limit: int | None) -> str:
    shown = "–" if count is None else str(count)
    return shown if limit is None else f"{shown}/{limit}"
