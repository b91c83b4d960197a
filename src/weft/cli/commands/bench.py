"""`weft bench`: measure weft and a reference in the same run."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.options import LOCAL, Local, Parameter
from weft.cli.terminal.screen import note, print_facts, print_json, print_table
from weft.core.errors import Invalid

FLAT = (str, int, float)


class UnknownBench(Invalid, code="CLI.UNKNOWN_BENCH"):
    """No bench has this name."""


def bench(
    name: str | None = None,
    /,
    *,
    scale: float = 1.0,
    jobs: int | None = None,
    rounds: int | None = None,
    directory: Annotated[Path | None, Parameter(name="--dir")] = None,
    shared: Local = LOCAL,
) -> None:
    """Measure weft and a reference in turns, on a throw-away server.

        weft bench latency --scale 0.1

    Args:
        name: The bench; without it, list all benches.
        scale: Factor for the default sizes: 0.1 is quick and rough.
        jobs: Number of jobs, instead of the default.
        rounds: Number of rounds, instead of the default.
        directory: Where the throw-away home is made (default: /var/tmp).
    """
    from weft.bench.main import BENCHES, run_bench  # noqa: PLC0415 (heavy: the server's side)
    from weft.bench.plan import BenchPlan  # noqa: PLC0415

    if name is None:
        _list(BENCHES, as_json=shared.json)
        return
    if name not in BENCHES:
        raise UnknownBench(
            f"bench {name!r} does not exist",
            detail=f"The benches are {', '.join(BENCHES)}.",
            hint="`weft bench` lists the benches and what they measure.",
        )
    plan = BenchPlan(scale=scale, jobs=jobs, rounds=rounds, directory=directory)
    with progress_of(name, lines=shared.json) as progress:
        result = run_bench(name, plan, progress)
    (print_json if shared.json else print_result)(result)


def _list(benches: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json(benches)
    else:
        print_table(("Bench", "Measures"), benches.items())


class _Bar:
    """A bar of rich on standard error."""

    def __init__(self, name: str, bar: Any) -> None:  # noqa: ANN401 (rich is imported late)
        self._bar = bar
        self._task = bar.add_task(name, total=None)
        self._begun = False

    def begin(self, steps: int) -> None:
        """Show an empty bar with this number of steps."""
        self._bar.update(self._task, total=steps)

    def step(self, what: str) -> None:
        """Show the current step; the previous one is done."""
        self._bar.update(self._task, description=what, advance=int(self._begun))
        self._begun = True


class _Lines:
    """A line for each step, where no bar can be drawn."""

    def begin(self, steps: int) -> None:
        """Print nothing; the steps do."""

    def step(self, what: str) -> None:
        """Print the current step."""
        note(what)


@contextmanager
def progress_of(name: str, *, lines: bool) -> Iterator[_Bar | _Lines]:
    """Give what shows the progress of a bench: a bar, or `lines` where none can be drawn."""
    if lines or not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    with Progress(
        BarColumn(bar_width=30),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        yield _Bar(name, bar)


def print_result(result: Mapping[str, Any]) -> None:
    """Print a table of the figures, then the conditions."""
    rows = [(name, value) for name, value in _flat(result) if not name.startswith("conditions")]
    print_table(("Figure", "Value"), rows, right=("Value",))
    print()
    print_facts(dict(_flat(result["conditions"])))


def _flat(document: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield every figure with the path of its names."""
    for name, value in document.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}.")
        elif isinstance(value, list):
            if all(isinstance(one, FLAT) for one in value):
                yield path, "  ".join(map(_shown, value))
            else:
                for one in value:
                    yield from _flat(one, f"{path}.{next(iter(one.values()))}.")
        elif value is not None:
            yield path, _shown(value)


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
