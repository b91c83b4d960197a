"""`weft bench`: the numbers, each beside a reference in the same run."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from weft.cli.options import SHARED, Shared
from weft.cli.screen import print_facts, print_json, print_table
from weft.core.errors import Invalid


class UnknownBench(Invalid):
    """A name that is none of a bench."""

    code = "CLI.UNKNOWN_BENCH"


def bench(
    name: str | None = None,
    /,
    *,
    scale: float = 1.0,
    jobs: int | None = None,
    rounds: int | None = None,
    directory: Path | None = None,
    shared: Shared = SHARED,
) -> int:
    """Measure one thing, and what it is compared with, in alternation, on a server of its own.

    Args:
        name: Which bench; without it they are listed.
        scale: Factor on the usual sizes.
        jobs: Number of jobs instead of the usual one.
        rounds: Number of rounds instead of the usual one.
        directory: Where the throw-away home is made.
        shared: Options of every command.
    """
    from weft.bench.main import BENCHES, run_bench  # noqa: PLC0415 (heavy: the server's side)
    from weft.bench.plan import Plan  # noqa: PLC0415

    if name is None:
        _list(BENCHES, as_json=shared.json)
        return 0
    if name not in BENCHES:
        raise UnknownBench(
            f"{name!r} is no bench",
            detail=f"There are {', '.join(BENCHES)}.",
            hint="`weft bench` says what each of them asks.",
        )
    plan = Plan(scale=scale, jobs=jobs, rounds=rounds, directory=directory)
    with _Bar(name) as bar:
        found = run_bench(name, plan, bar)
    if shared.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _list(benches: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json(dict(benches))
    else:
        print_table(("Bench", "What it asks"), benches.items())


def _print(found: Mapping[str, Any]) -> None:
    """Print the figures of a bench, then the conditions they were measured under."""
    conditions = found.get("conditions", {})
    figures = {name: value for name, value in found.items() if name != "conditions"}
    print_facts(_flat(figures))
    print()
    print_facts(_flat(conditions))


def _flat(document: Mapping[str, Any], before: str = "") -> dict[str, object]:
    """Return nested figures in one level: `rss_mb.api`."""
    flat: dict[str, object] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[before + name] = f"{value:,}" if isinstance(value, int) else value
    return flat


class _Bar:
    """A progress bar on standard error, where a person looks at it."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar: Any = None  # rich's Progress, imported where it is drawn
        self._task: Any = None  # rich's TaskID

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import Progress  # noqa: PLC0415

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, steps: int) -> None:
        """Say how many steps there will be."""
        if self._bar is not None:
            self._task = self._bar.add_task(self._title, total=steps)

    def step(self, what: str) -> None:
        """Say that the next step begins."""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{self._title}: {what}")
