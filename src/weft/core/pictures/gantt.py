"""The time axis as a picture."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from xml.etree.ElementTree import Element

from weft.core.pictures.svg import add, add_text, cut, new_picture, written
from weft.core.pictures.timeline import PHASES, AttemptBar, Timeline, WorkerLine
from weft.core.states import JobState
from weft.core.text.amounts import duration
from weft.core.text.texts import harmless

LEFT: Final = 120.0
WIDTH: Final = 900.0
_TOP: Final = 30.0
_CHART: Final = 150.0
_LANE: Final = 12.0
_GAP: Final = 8.0
_FOOT: Final = 24.0
_TICKS: Final = 6
_BUSY: Final = 28.0
_LANES_MAX: Final = 16
_KEY_WIDTH: Final = 105.0
_USUAL: Final = frozenset({"waiting", "starting", "running"})
_WELL: Final = (JobState.RUNNING.word, JobState.SUCCESS.word)


def draw_timeline(
    timeline: Timeline, *, alone: bool, link: Callable[[AttemptBar], str] | None = None
) -> str:
    """Return the picture as SVG. `link`: where an attempt leads."""
    heights = [_height_of(line) for line in timeline.workers]
    chart_bottom = _TOP + _CHART
    bottom = chart_bottom + _FOOT + sum(height + _GAP for height in heights)
    title = f"Time axis of b{timeline.batch_id}"
    svg = new_picture(LEFT + WIDTH + 20, bottom + _GAP, title)
    _add_patterns(svg)
    _add_legend(svg, timeline)
    _add_ticks(svg, timeline, chart_bottom, bottom)
    _add_phases(svg, timeline, chart_bottom)
    top = chart_bottom + _FOOT
    for line, height in zip(timeline.workers, heights, strict=True):
        _add_worker(svg, timeline, line, top, height, link)
        top += height + _GAP
    return written(svg, alone=alone)


def _lanes(line: WorkerLine) -> int:
    return max((attempt.lane for attempt in line.attempts or ()), default=0) + 1


def _shows_each(line: WorkerLine) -> bool:
    return line.attempts is not None and _lanes(line) <= _LANES_MAX


def _height_of(line: WorkerLine) -> float:
    return max(_lanes(line) * _LANE, 16.0) if _shows_each(line) else _BUSY


def _add_patterns(svg: Element) -> None:
    """Define a pattern for each phase, so that colours need not be told apart."""
    defs = add(svg, "defs")
    lines = {
        "waiting": "M0 3 H6",
        "staging": "M1 1 H2 M4 4 H5",
        "starting": "M0 6 L6 0",
        "storing": "M3 0 V6",
        "blocked": "M0 0 L6 6 M0 6 L6 0",
    }
    for phase, line in lines.items():
        pattern = add(
            defs,
            "pattern",
            f"p-{phase}",
            id=f"p-{phase}",
            width=6,
            height=6,
            patternUnits="userSpaceOnUse",
        )
        add(pattern, "rect", "part", width=6, height=6, fill_opacity=".35")
        add(pattern, "path", "mark", d=line, stroke_width=1.2)


def _fill(phase: str) -> str:
    return "currentColor" if phase == "running" else f"url(#p-{phase})"


def _add_legend(svg: Element, timeline: Timeline) -> None:
    """Name the phases in which jobs were; most are never staged, stored or blocked."""
    keys = [
        (f"p-{phase}", phase, _fill(phase), "")
        for phase in PHASES
        if phase in _USUAL or any(getattr(bucket, phase) for bucket in timeline.buckets)
    ]
    keys += [
        ("s-success", "succeeded", "currentColor", "part"),
        ("s-failed", "did not succeed", "currentColor", "part bad"),
    ]
    for i, (class_, text, fill, kind) in enumerate(keys):
        key, x = add(svg, "g", class_), LEFT + i * _KEY_WIDTH
        add(key, "rect", kind or None, x=x, y=6, width=14, height=12, fill=fill)
        add_text(svg, text, x + 20, 16)


def _add_ticks(svg: Element, timeline: Timeline, chart_bottom: float, bottom: float) -> None:
    length = timeline.ended_at - timeline.begun_at
    for i in range(_TICKS + 1):
        x = LEFT + WIDTH * i / _TICKS
        add(svg, "path", "grid", d=f"M{x:.1f} {_TOP} V{bottom:.1f}")
        text = duration(length * i // _TICKS // timedelta(milliseconds=1)) or "0 s"
        add_text(svg, text if i else "0", x, chart_bottom + 14, "small", anchor="middle")


def _add_phases(svg: Element, timeline: Timeline, bottom: float) -> None:
    """Draw how many jobs were in each phase, one phase on top of another."""
    order = ("running", "starting", "storing", "staging", "blocked", "waiting")
    sums = [sum(getattr(bucket, phase) for phase in order) for bucket in timeline.buckets]
    most = max(sums, default=0.0) or 1.0
    add_text(svg, "jobs", LEFT - 8, _TOP + 10, "small", anchor="end")
    add_text(svg, f"{most:,.3g}", LEFT - 8, _TOP + 24, anchor="end")
    width = WIDTH / max(len(timeline.buckets), 1)
    below = [0.0] * len(timeline.buckets)
    for phase in order:
        values = [getattr(bucket, phase) for bucket in timeline.buckets]
        if not any(values):
            continue
        group = add(svg, "g", f"p-{phase}")
        add(group, "title").text = phase
        upper = [low + value for low, value in zip(below, values, strict=True)]
        parts = [f"M{LEFT:.1f} {bottom - below[0] * _CHART / most:.1f}"]
        parts += (
            f"V{bottom - high * _CHART / most:.1f}H{LEFT + (i + 1) * width:.1f}"
            for i, high in enumerate(upper)
        )
        parts += (
            f"V{bottom - low * _CHART / most:.1f}H{LEFT + i * width:.1f}"
            for i, low in reversed([*enumerate(below)])
        )
        add(group, "path", d="".join(parts) + "Z", fill=_fill(phase))
        below = upper


def _add_worker(
    svg: Element,
    timeline: Timeline,
    line: WorkerLine,
    top: float,
    height: float,
    link: Callable[[AttemptBar], str] | None,
) -> None:
    group = add(svg, "g")
    add(group, "title").text = harmless(f"{line.worker}: {line.n_attempts:,} attempts")
    add_text(group, cut(line.worker, LEFT - 16), LEFT - 8, top + 12, "small", anchor="end")
    add(group, "rect", "lane", x=LEFT, y=top, width=WIDTH, height=height)
    if not _shows_each(line):
        _add_busy(group, line, top)
        return
    for attempt in line.attempts or ():
        _add_attempt(svg, timeline, attempt, top + attempt.lane * _LANE, link)


def _add_busy(group: Element, line: WorkerLine, top: float) -> None:
    """Draw how many attempts ran at once."""
    most = max(line.running, default=0.0) or 1.0
    width = WIDTH / max(len(line.running), 1)
    parts = [f"M{LEFT:.1f} {top + _BUSY:.1f}"]
    for i, value in enumerate(line.running):
        parts.append(f"V{top + _BUSY - value * _BUSY / most:.1f}H{LEFT + (i + 1) * width:.1f}")
    add(
        add(group, "g", "p-running"),
        "path",
        d="".join(parts) + f"V{top + _BUSY:.1f}Z",
        fill="currentColor",
    )


def _add_attempt(
    svg: Element,
    timeline: Timeline,
    bar: AttemptBar,
    top: float,
    link: Callable[[AttemptBar], str] | None,
) -> None:
    parent = svg if link is None else add(svg, "a", href=link(bar))
    group = add(parent, "g", f"s-{bar.state}")
    end = bar.ended_at or timeline.ended_at
    add(group, "title").text = f"j{bar.job_id}, attempt {bar.attempt}: {bar.state}"
    claimed, right = _x(timeline, bar.claimed_at), _x(timeline, end)
    started = _x(timeline, bar.started_at or end)
    if started > claimed:
        early = add(group, "g", "p-starting")
        add(
            early,
            "rect",
            x=claimed,
            y=top + 1,
            width=started - claimed,
            height=_LANE - 2,
            fill=_fill("starting"),
        )
    width = max(right - started, 1.0)
    kind = "part" if bar.state in _WELL else "part bad"
    add(group, "rect", kind, x=started, y=top + 1, width=width, height=_LANE - 2, rx=2)


def _x(timeline: Timeline, at: datetime) -> float:
    length = (timeline.ended_at - timeline.begun_at) or timedelta(milliseconds=1)
    return LEFT + WIDTH * min(max((at - timeline.begun_at) / length, 0.0), 1.0)
