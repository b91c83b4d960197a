"""`weft worker`: run a worker in the foreground; list, cordon and drain workers."""

import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from weft.cli.commands.up import run_role
from weft.cli.input.options import (
    LOCAL,
    SHARED,
    AllFlag,
    App,
    Local,
    Parameter,
    Shared,
    read_option,
)
from weft.cli.input.settings import (
    NO_LINK_OPTIONS,
    NO_SERVER_OPTIONS,
    NO_WORKER_OPTIONS,
    LinkOptions,
    ServerOptions,
    WorkerOptions,
    settings_of,
)
from weft.cli.terminal.names import simulates, worker_host, worker_state
from weft.cli.terminal.plain import cell, moment, one_line
from weft.cli.terminal.screen import Document, at, long_text, note, print_columns, print_facts
from weft.client.api import Api
from weft.client.http.address import LOOPBACK, Locator, parse_url
from weft.core.ids import format_job_ref
from weft.core.text.amounts import size
from weft.core.text.durations import parse_seconds
from weft.ports.extension import workers_outside
from weft.ports.plugins import loaded
from weft.settings import home_of

app = App(
    name="worker",
    help="Run a worker in the foreground, or list, cordon and drain workers.\n\n"
    "    weft worker --pool large --worker-cpu 4",
)

Pool = Annotated[str | None, Parameter(name="--pool")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Which workers are stopped, and why."""

    reason: str | None = None
    """Why, shown with the worker."""

    pool: Pool = None
    """Their pool, if several pools have workers of these names."""


NO_REASON = Stopping()


@app.default
def run(
    *,
    server: ServerOptions = NO_SERVER_OPTIONS,
    options: WorkerOptions = NO_WORKER_OPTIONS,
    link: LinkOptions = NO_LINK_OPTIONS,
    join: str | None = None,
    shared: Local = LOCAL,
) -> int:
    """Run a worker in the foreground.

        weft worker --pool large --worker-cpu 4
        weft worker --connect https://weft.example.org --token-file token

    Args:
        join: The word of `weft worker invite`, or - to read it from standard input. It counts
            once; what the worker needs from then on is kept in its home.
        server: Settings of the server.
        options: Settings of the worker.
        link: Settings of a worker outside, which shares nothing with the server.
    """
    if join is None:
        return run_role("worker", shared, server, options, link)
    groups, local = (server, options, link), replace(shared, home=_home_of_joined(shared.home))
    word = sys.stdin.readline().strip() if join == "-" else join
    loaded(workers_outside().joined)(word, settings_of(local, *groups))
    same = "" if options == NO_WORKER_OPTIONS else " and the same options"
    note(f"this machine has joined; then start it with `weft worker --home {local.home}`{same}")
    return run_role("worker", local, *groups, anew=True)


def _home_of_joined(named: Path | None) -> Path:
    """Return a home beside that of a server."""
    home = home_of(named)
    return home if named or os.environ.get("WEFT_HOME") else home.with_name("weft-worker")


@app.command
def invite(
    *,
    pool: Annotated[str, Parameter(name="--pool")] = "default",
    expires: str = "15m",
    url: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Print the line with which another machine joins as a worker, once.

        weft worker invite --pool large --url https://weft.example.org:8765

    Whoever types it has a worker, and so gets jobs and secrets of the pool. The
    machine needs weft, and reaches the api by HTTPS: the line holds the pin of its
    certificate.

    Args:
        pool: The pool that the worker joins.
        expires: How long the line is good, as 15m or 12h; a day at most.
        url: How the machine reaches the api. Without it: as this command does.
    """
    valid_s = read_option("--expires", expires, partial(parse_seconds, days=1))
    found = shared.ask(partial(_invite, pool, valid_s, url, shared.home))
    if shared.as_json(found):
        return
    sys.stdout.write(f"{found['command']}\n")
    note(f"it is good for one machine, until {moment(found['expires_at'])}; it holds a secret")
    note("without weft there: uvx --from WHEEL weft worker --join …")
    if found["is_local"]:
        note("its address is that of this machine; --url names that for others")


async def _invite(
    pool: str, valid_s: float, url: str | None, home: Path | None, client: Api
) -> Document:
    from weft.client.http import invitation, trust  # noqa: PLC0415 (they import ssl)

    endpoint = Locator(home=home).locate()
    if url is not None:
        endpoint = parse_url(url, None)._replace(
            ca_file=endpoint.ca_file, cert_file=endpoint.cert_file
        )
    trust.require_tls(endpoint)
    pin = await invitation.pin_of(endpoint)
    made = await client.create_token(
        "invitation of a worker", scopes=("work",), valid_s=valid_s, pool=pool, once=True
    )
    word = invitation.Invitation(endpoint, made["token"], pin).word
    known = {name: made[name] for name in ("token_id", "pool", "expires_at")}
    command = f"weft worker --join {shlex.quote(word)}"
    return {**known, "command": command, "join": word, "is_local": endpoint.host in LOOPBACK}


@app.command(name="ls")
def list_all(*, all_: AllFlag = False, shared: Shared = SHARED) -> None:
    """List the workers and their states: active, cordoned, draining or lost.

        weft worker ls

    Args:
        all_: Also those that have ended normally (deleted).
    """
    found = shared.ask(lambda client: client.list_workers(all_=all_))
    shared.table(
        found,
        {
            "Worker": long_text("worker", 40),
            "Pool": long_text("pool", 20),
            "Host": lambda row: cell(worker_host(row), width=40),
            "CPU": lambda row: "-" if simulates(row) else f"{row['cpu']:g}",
            "Memory": lambda row: "-" if simulates(row) else size(row["memory"]),
            "Running": lambda row: "" if row["n_running"] is None else f"{row['n_running']:,}",
            "State": "state",
            "Why": long_text("cordon_reason", 60),
        },
        right=("CPU", "Memory", "Running"),
        spare=("Host", "Pool", "Why"),
        empty="there is no worker; `weft up` and `weft worker` start one",
    )


@app.command
def show(name: str, /, *, pool: Pool = None, shared: Shared = SHARED) -> None:
    """Show a worker, and when, by whom and why its state was changed.

        weft worker show node7

    Args:
        name: Name of the worker.
        pool: Its pool, if several pools have a worker of this name.
    """
    found = shared.ask(lambda client: client.get_worker(name, pool=pool))
    if shared.as_json(found):
        return
    _print_facts(found)
    if found["history"]:
        print()
        print_columns(
            {
                "At": at("at"),
                "State": "state",
                "By": long_text("actor", 80),
                "Why": long_text("reason", 200),
            },
            found["history"],
        )


@app.command
def cordon(name: str, /, *others: str, why: Stopping = NO_REASON, shared: Shared = SHARED) -> None:
    """Stop workers from taking new jobs, even after a restart; the jobs they have go on.

        weft worker cordon node7 --reason "new disk"

    Args:
        name: Name of the worker.
        others: More workers.
    """
    change = partial(Api.cordon_worker, reason=why.reason, pool=why.pool)
    _change_all((name, *others), shared, change)


@app.command
def drain(name: str, /, *others: str, why: Stopping = NO_REASON, shared: Shared = SHARED) -> None:
    """Stop workers from taking new jobs; each ends when none of its jobs runs any more.

        weft worker drain node7 --reason "replaced by node8"

    Args:
        name: Name of the worker.
        others: More workers.
    """
    change = partial(Api.drain_worker, reason=why.reason, pool=why.pool)
    _change_all((name, *others), shared, change)
    if not shared.json:
        note("`weft worker uncordon` takes that back until the worker has ended")
        note("then `weft worker` on its host starts it again, and so does the next `weft up`")


@app.command
def uncordon(name: str, /, *others: str, pool: Pool = None, shared: Shared = SHARED) -> None:
    """Let cordoned or draining workers take jobs again.

        weft worker uncordon node7

    Args:
        name: Name of the worker.
        others: More workers.
        pool: Their pool, if several pools have workers of these names.
    """
    _change_all((name, *others), shared, partial(Api.uncordon_worker, pool=pool))


@app.command
def lose(name: str, /, *others: str, pool: Pool = None, shared: Shared = SHARED) -> None:
    """Give up silent workers whose jobs an engine elsewhere runs; they run again.

        weft worker lose slurm1

    What such a worker started may still run, although nothing is heard of it. Make
    sure first that it does not: nothing else keeps a job from running twice. If the
    worker comes back, it ends what it finds before it takes jobs.

    Args:
        name: Name of the worker.
        others: More workers.
        pool: Their pool, if several pools have workers of these names.
    """
    _change_all((name, *others), shared, partial(Api.lose_worker, pool=pool))


def _change_all(
    names: tuple[str, ...], shared: Shared, change: Callable[[Api, str], Awaitable[Document]]
) -> None:
    async def change_each(client: Api) -> None:
        for name in names:
            found = await change(client, name)
            shared.tell(found, f"{one_line(name, width=80)}: {worker_state(found)}")

    shared.ask(change_each)


def _print_facts(worker: Document) -> None:
    count = worker["n_running"]
    print_facts(
        {
            "Worker": one_line(worker["worker"], width=200),
            "Pool": one_line(worker["pool"], width=200),
            "Host": one_line(worker["host"], width=200),
            "State": worker["state"],
            "Why": worker["cordon_reason"] and one_line(worker["cordon_reason"], width=1000),
            "By": worker["cordoned_by"] and one_line(worker["cordoned_by"], width=200),
            "Since": moment(worker["cordoned_at"]) or None,
            "CPU": f"{worker['cpu']:g}",
            "Memory": size(worker["memory"]),
            "Slots": worker["slots"],
            "Offers": one_line(_offers(worker["offers"]), width=1000) or None,
            "Kept for": _kept_for(worker["kept_for"]),
            "Avoids": _avoids(worker.get("avoids") or ()),
            "Jobs": None if count is None else f"{count:,} running",
            "Version": worker["version"],
            "Link": _link(worker),
            "Registered": moment(worker["registered_at"]),
            "Last heard of": moment(worker["heartbeat_at"]),
            "Ended": moment(worker["ended_at"]) or None,
        }
    )


def _link(worker: Document) -> str | None:
    """Return how a worker outside is: `12 ms away, 3 MiB to ship, 40 MiB of inputs kept`."""
    if (said := worker.get("link")) is None:
        return "yes" if worker.get("linked") else None
    return (
        f"{round(said['delay_ms'])} ms away, {size(said['unshipped_bytes'])} to ship, "
        f"{size(said['input_cache_bytes'])} of inputs kept"
    )


def _kept_for(kept: Document | None) -> str | None:
    """Return the job that a worker is kept for: `b1.j3 since 12:00:00, short jobs may run until
    12:30:00`.
    """
    if kept is None:
        return None
    is_known = kept["batch_id"] is not None
    job = format_job_ref(kept["batch_id"], kept["job_id"]) if is_known else "a job"
    until = kept["fill_until"]
    short = f", short jobs may run until {moment(until)}" if until else ""
    return f"{job} since {moment(kept['since'])}{short}"


def _avoids(nodes: Sequence[Document]) -> str | None:
    """Return the nodes that a gateway avoids: `n1 until 12:00:00 (12 attempts …)`."""
    told = (f"{node['node']} until {moment(node['until'])} ({node['reason']})" for node in nodes)
    return one_line("; ".join(told), width=1000) or None


def _offers(offers: Mapping[str, Any]) -> str:
    """Return what a worker offers, as its settings write it: `gpu=2, rack=12`."""
    written = {
        name: "|".join(offer) if isinstance(offer, list) else offer
        for name, offer in offers.items()
        if offer and name != "storage_mib"
    }
    return ", ".join(f"{name}={offer}" for name, offer in sorted(written.items()))
