"""Check the floors of sql/functions/: a function calls its own floor and lower ones; hooks alone
call up. Print the floors and the calls between them.

    check_floors.py [FOLDER]
    check_floors.py --callers NAME    files of sql/ and store/ that name this function

A floor is a folder, its subjects are folders in it. A hook is a file in `hooks/`, which lists
what policies do there: `_before_submit`, `_after_ends`, … Functions from `offers` up call
it, and it calls everything but views.
"""

import re
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

FLOORS: Final = ("ground", "ledger", "offers", "verbs", "policies", "views")
"""From the lowest to the highest."""

HOOKS: Final = "hooks"
_CALLED: Final = "offers"
_CALLS: Final = "policies"
"""Hooks are called from this floor up, and call this floor and lower ones."""

EXCEPTIONS: Final[frozenset[tuple[str, str]]] = frozenset()
"""Caller and called function of each call upwards that may be there today."""

WEFT: Final = Path(__file__).resolve().parents[1] / "src" / "weft"
FUNCTIONS: Final = WEFT / "sql" / "functions"
_COMMENT: Final = re.compile(r"--[^\n]*")
_CALL: Final = re.compile(r"\bweft\.(\w+)\s*\(")


def calls_of(files: dict[str, Path]) -> dict[str, set[str]]:
    """Return by function the other functions that it names as called."""
    return {
        name: (files.keys() & {*_CALL.findall(_COMMENT.sub("", path.read_text()))}) - {name}
        for name, path in files.items()
    }


def _callers(name: str) -> int:
    """Print the files beside its own that name a function other than in a comment of SQL."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for path in sorted((*WEFT.glob("sql/**/*.sql"), *WEFT.glob("store/**/*.py"))):
        if path.stem != name and word.search(_COMMENT.sub("", path.read_text())):
            sys.stdout.write(f"{path.relative_to(WEFT)}\n")
    return 0


def _may_call(caller: str, called: str) -> bool:
    """Say whether functions of one floor may call those of another."""
    caller_height = FLOORS.index(_CALLS if caller == HOOKS else caller)
    return caller_height >= FLOORS.index(_CALLED if called == HOOKS else called)


def _misplaced(folder: Path, files: dict[str, Path]) -> list[str]:
    """Return what stands on no floor, or in no subject."""
    depths = dict.fromkeys(FLOORS, 3) | {HOOKS: 2}
    places = {name: path.relative_to(folder).parts for name, path in files.items()}
    return [
        f"{'/'.join(parts)} stands on no floor: it should be {FLOORS[0]}/SUBJECT/NAME.sql or so"
        for parts in places.values()
        if len(parts) != depths.get(parts[0])
    ]


def _problems(floor_of: dict[str, str], calls: dict[str, set[str]]) -> list[str]:
    """Return the calls that may not be, and exceptions that are none any more."""
    upward = {
        (caller, called)
        for caller, names in calls.items()
        for called in names
        if not _may_call(floor_of[caller], floor_of[called])
    }
    problems = [
        f"{caller} ({floor_of[caller]}) calls {called} ({floor_of[called]}), which is above it"
        for caller, called in sorted(upward - EXCEPTIONS)
    ]
    if floor_of.keys() >= {name for pair in EXCEPTIONS for name in pair}:
        problems += [f"exception not needed: {pair}" for pair in sorted(EXCEPTIONS - upward)]
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        problems.append("functions call each other in a circle: " + ", ".join(error.args[1]))
    return problems


def main(folder: Path) -> int:
    """Print the floors and the problems; return the exit code."""
    files = {path.stem: path for path in sorted(folder.rglob("*.sql"))}
    if problems := _misplaced(folder, files):
        sys.stderr.write("\n".join(problems) + "\n")
        return 1
    floor_of = {name: path.relative_to(folder).parts[0] for name, path in files.items()}
    calls = calls_of(files)
    edges = Counter((floor_of[a], floor_of[b]) for a, names in calls.items() for b in names)
    for floor in (HOOKS, *reversed(FLOORS)):
        below = [
            f"{other} {edges[floor, other]}"
            for other in (HOOKS, *FLOORS)
            if edges[floor, other] and other != floor
        ]
        n = sum(one == floor for one in floor_of.values())
        sys.stdout.write(f"{floor:9}{n:4} functions; calls {', '.join(below) or 'none below'}\n")
    problems = _problems(floor_of, calls)
    sys.stdout.write(f"{sum(edges.values())} calls, {len(EXCEPTIONS)} exceptions\n")
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--callers"]:
        sys.exit(_callers(*sys.argv[2:]))
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else FUNCTIONS))
