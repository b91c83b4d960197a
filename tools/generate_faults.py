"""Write docs/faults.md: what may go wrong, and what tests that tried it have shown.

`--run` runs the tests of `tools/faults.toml` first and records their results; words after `--` go
to pytest (`--run -- -m fault`). `--record FILE` takes the results of a run that has been, from its
`--junitxml`. With `--check` it only says if the document is fresh; each test must be there.
A row may name one case of a test: `…::test_killed[agent-early]`.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "faults.md"
ROWS = ROOT / "tools" / "faults.toml"
RESULTS = ROOT / "tools" / "faults.json"
HEAD = """# Faults

Made by `tools/generate_faults.py` from recorded runs of the tests; do not edit.

What may go wrong with a weft, the tests that make it happen, and what they saw when they were last
recorded: how many cases and jobs, whether all went well, and seconds of all cases together.
`lost` are jobs without the end that they must have; `twice` are runs of a job beyond its first,
of which a killed worker may cause one each, also of a job that had come to an end of which nobody
was told: what it did is done twice, and its end counts once; `back in` is the longest time until
work went on; `out in` is the longest time from SIGTERM until what was told had ended.
A point (`src/weft/faults.py`) is a step at which a test lets a process die, fail or wait, once.
A dash: not recorded yet. `make faults` records all again; `make faults ARGS='-m fault'` some.
"""
COLUMNS = "| fault | test | load | outcome | seconds |\n|---|---|---|---|---|\n"
LONGEST = ("recovery_s", "stopped_s")
SUMS = ("jobs", "lost", "doubled")

Rows = Mapping[str, Mapping[str, list[str]]]
Result = dict[str, Any]


def tests_of(rows: Rows) -> list[str]:
    """Return each test that a row names, once."""
    return sorted(
        {test for faults in rows.values() for tests in faults.values() for test in tests}
    )


def results_in(path: Path) -> Iterator[tuple[str, Result]]:
    """Yield what a run says of each case that was not skipped, for it and for its test."""
    for case in ET.parse(path).iter("testcase"):  # noqa: S314 (pytest wrote it just now)
        parts = [part for part in case.get("classname", "").split(".") if part[:1].islower()]
        name = f"{'/'.join(parts[1:])}::{case.get('name', '')}"
        failed = case.find("failure") is not None or case.find("error") is not None
        facts = [
            ast.literal_eval(found.get("value", "{}"))
            for found in case.iter("property")
            if found.get("name") == "fault"
        ]
        if case.find("skipped") is None:
            seconds = float(case.get("time", 0))
            result = {"failed": int(failed), "cases": 1, "seconds": seconds, **dict(*facts)}
            for each in {name, name.partition("[")[0]}:
                yield each, result


def added(results: Iterable[tuple[str, Result]]) -> dict[str, Result]:
    """Return one result for all cases of a test: sums, and the longest times."""
    by_test: dict[str, Result] = {}
    for name, case in results:
        before = by_test.setdefault(name, {})
        for key in ("failed", "cases", "seconds", *SUMS):
            if key in case:
                before[key] = round(before.get(key, 0) + case[key], 1)
        for key in LONGEST:
            if key in case:
                before[key] = round(max(before.get(key, 0), case[key]), 1)
    return by_test


def record(path: Path, rows: Rows) -> None:
    """Keep what a run says of the tests of rows, and what earlier ones said of others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known |= added(results_in(path))
    kept = {name: known[name] for name in tests_of(rows) if name in known}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def cells(test: str, result: Result | None) -> Iterator[str]:
    """Yield what a line of the table says of a test."""
    yield f"`{test}`"
    if result is None:
        yield from ("–", "–", "–")
        return
    cases = f"{result['cases']} cases" if result["cases"] > 1 else "1 case"
    jobs = f"{result['jobs']:,} jobs" if "jobs" in result else ""
    yield ", ".join(filter(None, (cases, jobs)))
    outcome = ["**failed**" if result["failed"] else "passed"]
    words = {"lost": "{} lost", "doubled": "{} twice", "recovery_s": "back in {} s"}
    words["stopped_s"] = "out in {} s"
    outcome += [word.format(result[key]) for key, word in words.items() if key in result]
    yield ", ".join(outcome)
    yield f"{result['seconds']:.1f}"


def document(rows: Rows) -> str:
    """Return the document."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    text = HEAD
    for section, faults in rows.items():
        text += f"\n## {section}\n\n{COLUMNS}"
        for fault, tests in faults.items():
            lines: list[Iterable[str]] = [cells(test, results.get(test)) for test in tests] or [
                ["none yet", "", "", ""]
            ]
            for number, line in enumerate(lines):
                text += f"| {' | '.join(['' if number else fault, *line])} |\n"
    return text


def gone(tests: Iterable[str]) -> list[str]:
    """Return the tests that are not there."""
    there: dict[Path, set[str]] = {}
    absent = []
    for test in tests:
        path = ROOT / f"tests/{test.partition('::')[0]}.py"
        if path not in there:
            tree = ast.parse(path.read_text()) if path.exists() else ast.Module([], [])
            there[path] = {getattr(node, "name", "") for node in ast.walk(tree)}
        if re.split(r"::|\[", test)[1] not in there[path]:
            absent.append(test)
    return absent


def run(rows: Rows, words: list[str]) -> int:
    """Run the tests and record what they say; the exit code is pytest's."""
    names = [f"tests/{test.replace('::', '.py::')}" for test in tests_of(rows)]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "results.xml"
        call = [sys.executable, "-m", "pytest", "-q", f"--junitxml={path}", *words, *names]
        code = subprocess.run(call, cwd=ROOT, check=False).returncode
        record(path, rows)
    return code


def main() -> int:
    """Run, record or check; the exit code is 1 if the document is not fresh."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    rows: Rows = tomllib.loads(ROWS.read_text())
    if absent := gone(tests_of(rows)):
        print("tools/faults.toml names tests that are not there; name those that took over:")
        print(*absent, sep="\n")
        return 1
    if options.check:
        fresh = DOCUMENT.exists() and DOCUMENT.read_text() == document(rows)
        if not fresh:
            print("docs/faults.md is stale: run tools/generate_faults.py and commit it.")
        return int(not fresh)
    if options.record:
        record(options.record, rows)
    code = run(rows, options.words) if options.run else 0
    DOCUMENT.write_text(document(rows))
    return code


if __name__ == "__main__":
    sys.exit(main())
