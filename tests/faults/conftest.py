"""A weft to attack, and the table of what the faults cost."""

from collections.abc import Iterator

import pytest

from faults.siege import SEED, Siege, besieged
from up.weft_up import temporary_home

PROPERTY = "fault"
COLUMNS = (
    "fault",
    "result",
    "jobs",
    "recovery_s",
    "stopped_s",
    "lost",
    "doubled",
    "note",
    "took_s",
)

Facts = dict[str, object]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is below this folder; the longest comes first, beside all others."""
    items.sort(key=lambda item: item.path.name != "test_siege.py")
    for item in items:
        if "faults" in item.path.parts:
            item.add_marker(pytest.mark.fault)


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Facts:
    """Give the facts that this test's line of the table shows."""
    facts: Facts = {}
    request.node.user_properties.append((PROPERTY, facts))
    return facts


@pytest.fixture
def siege(recorded: Facts) -> Iterator[Siege]:
    """Give a weft of its own to one test."""
    with temporary_home() as home, besieged(home, recorded=recorded) as siege:
        yield siege


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seed and what each fault cost."""
    rows = [
        row_of(report, facts)
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, facts in report.user_properties
        if name == PROPERTY
    ]
    if not rows:
        return
    widths = [max(len(row[i]) for row in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    terminalreporter.section(f"faults (FAULT_SEED={SEED})")
    for row in [COLUMNS, *rows]:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        terminalreporter.write_line("  ".join(cells).rstrip())


def row_of(report: pytest.TestReport, facts: Facts) -> tuple[str, ...]:
    """Return a test's line: its name, what it recorded, and how long it took."""
    name = report.nodeid.rpartition("::")[2].removeprefix("test_")
    values = [facts.get(column, "") for column in COLUMNS[2:-1]]
    shown = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in values]
    return name, report.outcome, *shown, f"{report.duration:.0f}"
