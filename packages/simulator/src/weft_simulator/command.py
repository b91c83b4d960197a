"""`weft simulate`: what a pool would have done with a recorded workload."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from weft.cli.input.declared import placed, read_file, tables_in
from weft.cli.input.documents import WRITABLE, able_to
from weft.cli.input.options import LOCAL, Local, Parameter, WrongOption, read_option
from weft.cli.input.packed import unpacked_lines
from weft.cli.terminal.screen import Document, note, print_table
from weft.core.errors import Invalid
from weft.core.pools import Pool
from weft.core.problems import Problems
from weft.core.swf import UnreadableTrace, read_trace
from weft.core.text.amounts import duration, money
from weft.core.text.durations import parse_seconds
from weft.wire.documents.pools import PoolsDocument
from weft_simulator.model import Options, QueueLimits
from weft_simulator.model.figures import compare
from weft_simulator.model.plots import draw

LOAD_MAX = 1000
LOSSES_MAX = 3600
TWICE = "With 2, jobs come twice as fast."
TWO_HOURS = "With 0.5, a machine is taken back after two hours on average."
USERS_SHOWN = 10
FORMS: tuple[Literal["png"], Literal["html"]] = ("png", "html")
NAMES = {"weft": "weft", "fifo": "FIFO", "easy": "EASY"}


class WhichPool(Invalid, code="CLI.WHICH_POOL"):
    """A file of pools in which the pool to simulate is not clear."""

    advice = "Name one with --name."


def simulate(
    trace: str,
    /,
    *,
    pool: Path,
    name: str | None = None,
    seed: int = 0,
    boot: str = "60",
    load: float = 1.0,
    losses: float = 0.0,
    max_running: int | None = None,
    max_running_per_user: int | None = None,
    max_running_per_application: int | None = None,
    priority: Annotated[list[str] | None, Parameter(negative="")] = None,
    plot: Annotated[list[Path] | None, Parameter(negative="")] = None,
    shared: Local = LOCAL,
) -> None:
    """Run a recorded workload on a pool, in virtual time.

        weft simulate trace.swf.gz --pool pool.toml

    The functions decide that decide in production: fair shares, claims, the
    autoscaler. Beside it are static clusters with as many core hours: first come
    first served, and the same with EASY backfilling. Needs no server.

    Args:
        trace: File in the Standard Workload Format, plain or compressed by gzip; `-`: standard
            input.
        pool: TOML with tables `[[pool]]`, as for `weft pool apply`.
        name: Which pool of the file, if there are several.
        seed: Seed of what differs between machines: the times to boot, and losses.
        boot: How long a machine takes until it runs jobs, on average: 90, 2m.
        losses: How often in an hour a machine of a preemptible flavour is taken back, on average.
        max_running: How many jobs of the queue may run at a time, as in its file.
        max_running_per_user: How many of each user.
        max_running_per_application: How many of each application: its concurrency key.
        priority: User and priority of their queue, for which others are stopped: 3=10.
        load: Factor for the rate of submissions; with 2, jobs come twice as fast.
        plot: Draw it into a file .png or .html; may be repeated. Needs `weft[plots]`.
    """
    forms = [(file, _form_of(file)) for file in plot or ()]
    boot_s = read_option("--boot", boot, parse_seconds)
    _check_rate("--load", load, most=LOAD_MAX, hint=TWICE, is_zero_allowed=False)
    _check_rate("--losses", losses, most=LOSSES_MAX, hint=TWO_HOURS, is_zero_allowed=True)
    limits = _limits(max_running, max_running_per_user, max_running_per_application)
    priorities = dict(read_option("--priority", one, _priority_of) for one in priority or ())
    wanted = read_pool(pool, name, shared)
    lines = unpacked_lines(trace, refused=UnreadableTrace, what="the trace")
    options = Options(
        seed=seed, boot_s=boot_s, losses_per_hour=losses, limits=limits, priorities=priorities
    )
    comparison = compare(wanted, read_trace(lines, name=trace), options, load=load, name=trace)
    for file, form in forms:
        _write(file, draw(comparison, form))
    if not shared.as_json(comparison.document):
        _print(comparison.document)


def _check_rate(option: str, value: float, *, most: int, hint: str, is_zero_allowed: bool) -> None:
    if not (0 < value <= most or (is_zero_allowed and value == 0)):
        least = "at least 0" if is_zero_allowed else "more than 0"
        raise WrongOption(
            f"the value of {option} is wrong",
            detail=f"It is {value:g}, and must be {least} and at most {most}.",
            hint=hint,
        )


def _limits(
    running: int | None, running_per_user: int | None, running_per_application: int | None
) -> QueueLimits:
    return QueueLimits(
        max_running=_limit("--max-running", running),
        max_running_per_user=_limit("--max-running-per-user", running_per_user),
        max_running_per_application=_limit(
            "--max-running-per-application", running_per_application
        ),
    )


def _limit(option: str, value: int | None) -> int | None:
    if value is not None and value < 1:
        raise WrongOption(
            f"the value of {option} is wrong",
            detail=f"It is {value}, and must be at least 1.",
            hint="Leave it out if there is no limit.",
        )
    return value


def _priority_of(text: str) -> tuple[int, int]:
    user, _, priority = text.partition("=")
    try:
        return int(user), int(priority)
    except ValueError:
        raise ValueError(f"{text!r} is not USER=PRIORITY, such as 3=10") from None


def _form_of(file: Path) -> Literal["png", "html"]:
    for form in FORMS:
        if file.suffix.lower() == f".{form}":
            return form
    raise WrongOption(
        "the value of --plot is wrong",
        detail=f"The name {file.name!r} ends neither with .png nor with .html.",
        hint="A picture is a file .png, a page that holds it a file .html.",
    )


def _write(file: Path, body: bytes) -> None:
    with able_to(f"write {str(file)!r}", WRITABLE):
        file.write_bytes(body)


def read_pool(file: Path, name: str | None, shared: Local) -> Pool:
    """Return the pool that a file describes. Raise `WhichPool` if it is not clear which."""
    from weft.api.http.decoding import JSON, decode  # noqa: PLC0415 (heavy: the server's side)
    from weft.api.use_cases.pools import pools_of  # noqa: PLC0415

    body = read_file(file)
    example = 'name = "burst", provider = "process", max_workers = 4'
    otherwise = "`weft simulate` takes the file of `weft pool apply`."
    tables = tables_in(file, body, "pool", example=example, otherwise=otherwise)
    with placed(file, body, {"pools": tables}, shared):
        document = decode(msgspec.json.encode({"pools": tables}), JSON, PoolsDocument)
        problems = Problems()
        pools = pools_of(document.pools, problems)
        problems.raise_any()
    matching = [pool for pool in pools if name is None or pool.name == name]
    if len(matching) != 1:
        names = ", ".join(pool.name for pool in pools) or "none"
        which = f"{len(pools)} pools" if name is None else f"no pool {name!r}"
        raise WhichPool(f"{file} describes {which}", detail=f"Its pools: {names}.")
    return matching[0]


def _print(found: Document) -> None:
    policies = found["policies"]
    print_table(
        ("Figure", *NAMES.values()),
        _rows(
            policies,
            has_losses=found["losses_per_hour"] > 0,
            has_priorities=bool(found["priorities"]),
        ),
        right=tuple(NAMES.values()),
    )
    print()
    print_table(
        ("User", "Jobs", "Core hours", *(f"{name} waits" for name in NAMES.values())),
        [_user_row(one) for one in found["users"][:USERS_SHOWN]],
        right=("User", "Jobs", "Core hours", *(f"{name} waits" for name in NAMES.values())),
    )
    if len(found["users"]) > USERS_SHOWN:
        print(f"… and {len(found['users']) - USERS_SHOWN:,} more users; --json prints them all")
    left_out = f", {found['left_out']:,} that never ran left out" if found["left_out"] else ""
    note(f"{found['jobs']:,} jobs{left_out}; static clusters of {found['static_cores']:,} cores")
    speed = found["speed"]
    note(
        f"{duration(policies['weft']['span_s'] * 1000)} in {speed['wall_s']:.2f} s: "
        f"{speed['times_real_time']:,} × real time, {speed['decisions_per_s']:,} decisions/s"
    )


def _rows(
    policies: Mapping[str, Document], *, has_losses: bool, has_priorities: bool
) -> Sequence[Sequence[str]]:
    def row(label: str, show: Any) -> Sequence[str]:  # noqa: ANN401 (a function of figures)
        return (label, *(show(policies[name]) for name in NAMES))

    waits = [
        row(f"wait, {label}", lambda one, key=key: _time(one["wait_s"][key]))
        for key, label in (("mean", "mean"), ("p50", "median"), ("p95", "p95"), ("max", "longest"))
    ]
    losses = [
        row("lost attempts", lambda one: f"{one['lost_attempts']:,}"),
        row("errors", lambda one: f"{one['errors']:,}"),
    ]
    return [
        *waits,
        *(losses if has_losses else []),
        *([row("preempted", lambda one: f"{one['preempted']:,}")] if has_priorities else []),
        row("slowdown, mean", lambda one: f"{one['slowdown']['mean']:,.2f}"),
        row("slowdown, p95", lambda one: f"{one['slowdown']['p95']:,.2f}"),
        row("utilisation", lambda one: f"{one['utilisation']:.1%}"),
        row("machine hours", lambda one: f"{one['machine_hours']:,.1f}"),
        row("core hours", lambda one: f"{one['core_hours']:,.0f}"),
        row("cost", lambda one: money(one["cost"])),
        row("all done after", lambda one: _time(one["span_s"])),
    ]


def _user_row(one: Document) -> Sequence[str]:
    return (
        str(one["user"]),
        f"{one['jobs']:,}",
        f"{one['core_hours']:,.0f}",
        *(_time(one["wait_s"][name]["mean"]) for name in NAMES),
    )


def _time(seconds: float) -> str:
    return duration(seconds * 1000) if seconds else "0"
