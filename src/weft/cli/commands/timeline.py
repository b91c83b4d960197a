"""`weft timeline`: when the jobs of a batch waited and ran, and where."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec

from weft.cli.input.documents import opened_to_write
from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.targets import parse_batch
from weft.cli.terminal.screen import moment, note, one_line, print_json
from weft.core.ids import format_batch_id
from weft.core.pictures.gantt import draw_timeline
from weft.core.pictures.svg import page_of
from weft.core.pictures.timeline import PHASES, Timeline
from weft.core.text.amounts import counted, duration

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
