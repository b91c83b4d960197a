"""`weft timeline`, `weft dag`: pictures of a batch; `weft usage`: what a job of it used."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from weft.cli.input.documents import opened_to_write
from weft.cli.input.options import SHARED, Flag, Parameter, Shared
from weft.cli.input.targets import parse_batch, parse_target
from weft.cli.terminal.screen import moment, note, one_line, print_json, print_table
from weft.core.billing.usage_points import UsagePoint, points_of
from weft.core.errors import BadId
from weft.core.ids import format_batch_id, parse_job_ref
from weft.core.pictures.dag import draw_svg, write_dot, write_mermaid
from weft.core.pictures.gantt import draw_timeline
from weft.core.pictures.graph import Graph
from weft.core.pictures.svg import page_of
from weft.core.pictures.timeline import PHASES, Timeline
from weft.core.text.amounts import counted, duration, size
from weft.wire.usage_format import UsageSample

LEVELS: Final = "▁▂▃▄▅▆▇█"
NAME_CHARS: Final = 12
WIDTH: Final = 56
"""With a name before it and a sum after it, a line fits 80 columns."""


def timeline(
    batch: str,
    /,
    *,
    html: Annotated[Path | None, Parameter(name=["--html"])] = None,
    shared: Shared = SHARED,
) -> int:
    """Show when the jobs of a batch waited, started, ran or were blocked, and what each worker
    ran. Of a batch of more than 2,000 jobs it is an estimate from 2,000 of them.

        weft timeline b12 --html b12.html

    Args:
        batch: `b12`.
        html: Write a page that needs no other file.
    """
    batch_id = parse_batch(batch)
    document = shared.ask(lambda client: client.get_timeline(batch_id))
    timeline = msgspec.convert(document, Timeline)
    if html is not None:
        title = f"Time axis of {format_batch_id(batch_id)}"
        with opened_to_write(html) as file:
            file.write(page_of(draw_timeline(timeline, alone=False), title))
    if shared.json:
        print_json(document)
    elif html is not None:
        note(f"{counted(timeline.n_jobs, 'job')}: {html}")
    else:
        _print(timeline)
    return 0


def _print(timeline: Timeline) -> None:
    length = (timeline.ended_at - timeline.begun_at).total_seconds() * 1000
    begun = moment(timeline.begun_at.isoformat())
    print(f"{format_batch_id(timeline.batch_id)}: {duration(length)} from {begun} on")
    if timeline.n_sampled < timeline.n_jobs:
        print(f"estimated from {timeline.n_sampled:,} of {counted(timeline.n_jobs, 'job')}")
    series = {
        phase: [getattr(bucket, phase) for bucket in timeline.buckets]
        for phase in PHASES
        if getattr(timeline.times, f"{phase}_ms")
    }
    most = max((max(values) for values in series.values()), default=0.0)
    if series:
        few = f", at most {most:,.0f} at a time" if most >= 1 else ""
        print(f"\njobs{few}; on the right the time of all")
    for phase, values in series.items():
        total = duration(getattr(timeline.times, f"{phase}_ms"))
        print(f"{phase:<{NAME_CHARS}} {sparkline(values, most)} {total:>10}")
    if timeline.workers:
        print("\nrunning, by worker, and how many attempts")
    busiest = max((max(line.running, default=0.0) for line in timeline.workers), default=0.0)
    for line in timeline.workers:
        name = one_line(line.worker, width=NAME_CHARS)
        attempts = f"{line.n_attempts:,} ×"
        print(f"{name:<{NAME_CHARS}} {sparkline(line.running, busiest)} {attempts:>10}")
    if left := timeline.n_workers - len(timeline.workers):
        print(f"… and {counted(left, 'more worker')}", file=sys.stdout)


def sparkline(values: Sequence[float], most: float, width: int = WIDTH) -> str:
    """Return values as a line of blocks: a blank for nothing, a full one for `most`."""
    blocks = []
    for i in range(width):
        first = i * len(values) // width
        part = values[first : max((i + 1) * len(values) // width, first + 1)]
        mean = sum(part) / len(part) if part else 0.0
        level = min(int(mean / most * len(LEVELS)), len(LEVELS) - 1) if most else 0
        blocks.append(LEVELS[level] if mean > 0 else " ")
    return "".join(blocks)


SAMPLES_MAX = 20


async def usage(target: str, /, *, attempt: int | None = None, shared: Shared = SHARED) -> int:
    """Show the CPU time and memory of a job while it ran, or while it runs.

        weft usage b12.j7
        weft usage b12.j7 --attempt 1 --json

    A worker takes a sample every 5 s (`usage_sample_s`).

    The table shows some of them, `--json` all that are kept.

    Args:
        target: `b12.j7`.
        attempt: Number of the attempt; default: the last one.
    """
    batch_id, job_id = parse_job_ref(target)
    async with shared.client() as client:
        if attempt is None:  # without any the server says so of the first
            attempt = int((await client.get_job(batch_id, job_id)).get("attempt") or 1)
        found = await client.attempt_usage(batch_id, job_id, attempt)
    if shared.as_json(found):
        return 0
    samples = found["samples"]
    if not samples:
        note("there are no samples: it was too short, or its runner measures nothing")
        return 0
    points = points_of([UsageSample(**sample) for sample in samples], most=SAMPLES_MAX)
    print_table(("After", "Cores", "CPU", "Memory"), map(_usage_row, points), right=("Cores",))
    return 0


def _usage_row(point: UsagePoint) -> tuple[str, str, str, str]:
    cores, cpu = f"{point.cores:.2f}", duration(point.cpu_ms)
    return duration(point.at_ms), cores, cpu, size(point.memory_bytes)


WRITERS: Final[Mapping[str, Callable[[Graph], str]]] = {
    "mermaid": write_mermaid,
    "dot": write_dot,
    "svg": partial(draw_svg, alone=True),
}


async def dag(
    target: str,
    /,
    *,
    format_: Annotated[Literal["mermaid", "dot", "svg"], Parameter(name=["--format"])] = "mermaid",
    level: Literal["groups", "jobs"] | None = None,
    apart: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    shared: Shared = SHARED,
) -> int:
    """Draw the dependencies within a batch or a group: between the groups below it if there are
    some, else between its first 2,000 jobs; jobs that are alike, as an array, are one node.

        weft dag b12/stage1 --format svg -o stage1.svg

    Args:
        target: A batch `b12` or a group `b12/stage1`.
        format_: The language of Mermaid or of Graphviz, or a picture.
        level: Between groups or between jobs.
        apart: Draw each job, also twelve or more with the same parents and the same children.
        output: Where to write it instead of standard output.
    """
    found = parse_target(target)
    if found.job_id is not None:
        raise BadId(target, expected="a batch is written b12, a group b12/stage1")
    async with shared.client() as client:
        document = await client.get_graph(
            found.batch_id, group=found.group, level=level, apart=apart
        )
    if shared.as_json(document):
        return 0
    graph = msgspec.convert(document, Graph)
    text = WRITERS[format_](graph)
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        with opened_to_write(output) as file:
            file.write(text)
        note(f"nodes: {len(graph.nodes):,}, edges: {len(graph.edges):,}; written to {output}")
    if graph.cursor is not None:
        note("there are more nodes than one picture holds: draw a group of it")
    if graph.sampled:
        note("there are more dependencies than one picture reads: some may be missing")
    return 0
