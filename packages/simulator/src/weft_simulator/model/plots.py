"""Pictures of a comparison, drawn by matplotlib, which is an extra: `weft[plots]`."""

import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from weft_simulator.model.figures import Comparison, waits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS: Final[Mapping[str, str]] = {"weft": "weft", "fifo": "FIFO", "easy": "EASY"}
COLOURS: Final[Mapping[str, str]] = {"weft": "#0a6e6e", "fifo": "#c2571a", "easy": "#6b5bb5"}
POINTS_MAX: Final = 2000
"""More steps are not visible: of neighbours the highest stands for all."""
DAY_S: Final = 86_400.0
HOUR_S: Final = 3600.0
DAYS_FROM_S: Final = 2 * DAY_S
Step = tuple[float, float]


def draw(comparison: Comparison, form: Literal["png", "html"]) -> bytes:
    """Return a picture, or a page that holds it with the figures and needs nothing else.

    Raise `PackageMissing`.
    """
    figure = _figure(comparison)
    if form == "png":
        return _saved(figure, "png")
    return _page(comparison, _saved(figure, "svg").decode()).encode()


def _figure(comparison: Comparison) -> "Figure":
    from matplotlib import rc_context  # noqa: PLC0415 (an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 9), layout="constrained")
        machines, waiting, waits = figure.subplots(3, 1)
        _draw_machines(machines, comparison)
        _draw_waiting(waiting, comparison)
        _draw_waits(waits, comparison)
    return figure


def _saved(figure: "Figure", form: str) -> bytes:
    from matplotlib import rc_context  # noqa: PLC0415

    target = io.BytesIO()
    # Without a date and with a fixed salt for ids, the same figures are the same bytes.
    dated: Mapping[str, Any] = {"Date": None} if form == "svg" else {}
    with rc_context({"svg.hashsalt": "weft"}):
        figure.savefig(target, format=form, dpi=120, metadata=dict(dated))
    return target.getvalue()


def _unit_of(comparison: Comparison) -> tuple[str, float]:
    """Return the unit of the time that is shown, and its seconds."""
    span_s = comparison.document["policies"]["weft"]["span_s"]
    return ("days", DAY_S) if span_s > DAYS_FROM_S else ("hours", HOUR_S)


def _draw_machines(axes: "Axes", comparison: Comparison) -> None:
    weft, jobs = comparison.outcomes[0], comparison.jobs
    unit, unit_s = _unit_of(comparison)
    zero_s = jobs[0].submit_s
    there = _steps(
        change
        for one in weft.machines
        for change in ((one.begin_s, one.cpu_m / 1000), (one.end_s, -one.cpu_m / 1000))
    )
    used = _steps(
        change
        for job, start in zip(jobs, weft.starts, strict=True)
        for change in ((start, job.cpu_m / 1000), (start + job.run_s, -job.cpu_m / 1000))
    )
    _fill(axes, _since(there, zero_s, unit_s), "#cfdcdc", "machines of the pool")
    _fill(axes, _since(used, zero_s, unit_s), COLOURS["weft"], "used by jobs")
    cores = comparison.outcomes[1].machines[0].cpu_m / 1000
    axes.axhline(cores, color=COLOURS["fifo"], linestyle="--", label="static clusters")
    axes.set(ylabel="cores", xlabel=unit)
    _head(axes, "Machines")


def _draw_waiting(axes: "Axes", comparison: Comparison) -> None:
    jobs = comparison.jobs
    unit, unit_s = _unit_of(comparison)
    for outcome in comparison.outcomes:
        steps = _steps(
            change
            for job, start in zip(jobs, outcome.starts, strict=True)
            for change in ((job.submit_s, 1.0), (start, -1.0))
        )
        times, values = _since(steps, jobs[0].submit_s, unit_s)
        axes.step(
            times,
            values,
            where="post",
            label=LABELS[outcome.name],
            color=COLOURS[outcome.name],
            linewidth=0.9,
        )
    axes.set(ylabel="jobs", xlabel=unit)
    axes.set_xlim(left=0)
    _head(axes, "Jobs that wait")


def _draw_waits(axes: "Axes", comparison: Comparison) -> None:
    for outcome in comparison.outcomes:
        waits = sorted(waits_of(outcome, comparison.jobs))
        shown = _thinned([(wait, (at + 1) / len(waits)) for at, wait in enumerate(waits)])
        axes.plot(
            [max(wait, 1.0) for wait, _ in shown],
            [100 * share for _, share in shown],
            label=LABELS[outcome.name],
            color=COLOURS[outcome.name],
            drawstyle="steps-post",
        )
    axes.set(xscale="log", xlabel="seconds", ylabel="% of jobs")
    _head(axes, "Jobs that waited at most")


def _head(axes: "Axes", title: str) -> None:
    """Write title and legend above the picture, where nothing is drawn."""
    axes.set_title(title, loc="left")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)


def _since(steps: Sequence[Step], zero_s: float, unit_s: float) -> tuple[list[float], list[float]]:
    return [(at - zero_s) / unit_s for at, _ in steps], [value for _, value in steps]


def _fill(axes: "Axes", steps: tuple[list[float], list[float]], colour: str, label: str) -> None:
    axes.fill_between(*steps, step="post", color=colour, label=label, linewidth=0)


def _steps(changes: Iterable[Step]) -> list[Step]:
    """Return the sum after each change, at most `POINTS_MAX` of them."""
    total = 0.0
    found: list[Step] = []
    for at, change in sorted(changes):
        total += change
        if found and found[-1][0] == at:
            found[-1] = (at, total)
        else:
            found.append((at, total))
    return _thinned(found)


def _thinned(steps: Sequence[Step]) -> list[Step]:
    size = -(-len(steps) // POINTS_MAX)
    parts = [steps[first : first + size] for first in range(0, len(steps), size)]
    return [(part[0][0], max(value for _, value in part)) for part in parts[:-1]] + list(
        parts[-1] if parts else ()
    )


def _page(comparison: Comparison, svg: str) -> str:
    found = comparison.document
    title = html.escape(f"{found['trace']} on pool {found['pool']}")
    policies = [(LABELS[name], one) for name, one in found["policies"].items()]
    rows = [
        ("mean wait, s", [f"{one['wait_s']['mean']:,.1f}" for _, one in policies]),
        ("95 % waited at most, s", [f"{one['wait_s']['p95']:,.1f}" for _, one in policies]),
        ("longest wait, s", [f"{one['wait_s']['max']:,.1f}" for _, one in policies]),
        ("mean slowdown", [f"{one['slowdown']['mean']:,.2f}" for _, one in policies]),
        ("utilisation", [f"{one['utilisation']:.1%}" for _, one in policies]),
        ("core hours", [f"{one['core_hours']:,.0f}" for _, one in policies]),
        ("cost", [f"{one['cost']:,.2f}" for _, one in policies]),
    ]
    head = "".join(f"<th>{name}</th>" for name, _ in policies)
    body = "".join(
        f"<tr><td>{label}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for label, cells in rows
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "td,th{padding:.2em 1em;text-align:right}td:first-child{text-align:left}"
        "svg{width:100%;height:auto}</style></head>"
        f"<body><h1>{title}</h1><table><tr><th></th>{head}</tr>{body}</table>"
        f"{svg[svg.index('<svg') :]}</body></html>\n"
    )
