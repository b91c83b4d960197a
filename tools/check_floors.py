"""Check the floors of sql/functions/, also of packages: a function calls its own floor and lower
ones; hooks alone call up. Packages do not call each other, and the house calls them at hooks.
Print the floors and the calls between them.

    check_floors.py [FOLDER …]
    check_floors.py --callers NAME    files of sql/ and store/ that name this function

A floor is a folder, its subjects are folders in it. A hook is a file in `hooks/`, which lists
what policies do there: `_before_submit`, `_after_ends`, … Functions from `offers` up call
it, and it calls everything but views.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
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

INTO_PACKAGES: Final = frozenset(
    {
        ("_add_details", "_use_apps"),
        ("_job_documents", "_status_fields"),
        ("_keep_products", "_has_products"),
        ("_limit_statuses", "_walk_path"),
        ("_open_messages", "_message_document"),
        ("_unsent_of_batch", "_unsent_counts"),
        ("_why_facts", "_travels"),
        ("due_callbacks", "_secrets_of"),
        ("job_history", "_delivery_changes"),
        ("job_history", "_status_changes"),
        ("record_deliveries", "_after_sends"),
    }
)
"""Caller and called function of each call of the house into a package that is at no hook."""

ROOT: Final = Path(__file__).resolve().parents[1]
WEFT: Final = ROOT / "src" / "weft"
FUNCTIONS: Final = (WEFT / "sql/functions", *sorted(ROOT.glob("packages/*/src/*/sql/functions")))
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
    packages = ROOT.glob("packages/*/src/*/sql/**/*.sql")
    for path in sorted((*WEFT.rglob("sql/**/*.sql"), *packages, *WEFT.glob("store/**/*.py"))):
        if path.stem != name and word.search(_COMMENT.sub("", path.read_text())):
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    return 0


def _may_call(caller: str, called: str) -> bool:
    """Say whether functions of one floor may call those of another."""
    caller_height = FLOORS.index(_CALLS if caller == HOOKS else caller)
    return caller_height >= FLOORS.index(_CALLED if called == HOOKS else called)


def files_below(folders: Iterable[Path]) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Return by function its file, and where that stands below the folder it was found in."""
    return {
        path.stem: (path, path.relative_to(folder).parts)
        for folder in folders
        for path in sorted(folder.rglob("*.sql"))
    }


def _misplaced(places: Iterable[tuple[str, ...]]) -> list[str]:
    """Return what stands on no floor, or in no subject."""
    depths = dict.fromkeys(FLOORS, 3) | {HOOKS: 2}
    return [
        f"{'/'.join(parts)} stands on no floor: it should be {FLOORS[0]}/SUBJECT/NAME.sql or so"
        for parts in places
        if len(parts) != depths.get(parts[0])
    ]


def _package_of(path: Path) -> str:
    """Return whose function it is: a package, or "" for the house."""
    _, inside, below = path.as_posix().rpartition("/weft_")
    return below.split("/")[0] if inside else ""


def _strangers(
    found: dict[str, tuple[Path, tuple[str, ...]]], calls: dict[str, set[str]]
) -> list[str]:
    """Return calls into another package, or into one from the house at no hook."""
    home = {name: _package_of(path) for name, (path, _) in found.items()}
    into = {
        (caller, called)
        for caller, names in calls.items()
        for called in names
        if home[called] not in {"", home[caller]} and found[caller][1][0] != HOOKS
    }
    known = {pair for pair in INTO_PACKAGES if found.keys() >= {*pair}}
    return [
        *(f"{one} calls {other} of the package {home[other]}" for one, other in into - known),
        *(f"exception not needed: {pair}" for pair in known - into),
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


def main(folders: Iterable[Path]) -> int:
    """Print the floors and the problems; return the exit code."""
    found = files_below(folders)
    if problems := _misplaced(parts for _, parts in found.values()):
        sys.stderr.write("\n".join(problems) + "\n")
        return 1
    floor_of = {name: parts[0] for name, (_, parts) in found.items()}
    calls = calls_of({name: path for name, (path, _) in found.items()})
    edges = Counter((floor_of[a], floor_of[b]) for a, names in calls.items() for b in names)
    for floor in (HOOKS, *reversed(FLOORS)):
        below = [
            f"{other} {edges[floor, other]}"
            for other in (HOOKS, *FLOORS)
            if edges[floor, other] and other != floor
        ]
        n = sum(one == floor for one in floor_of.values())
        sys.stdout.write(f"{floor:9}{n:4} functions; calls {', '.join(below) or 'none below'}\n")
    problems = _problems(floor_of, calls) + _strangers(found, calls)
    sys.stdout.write(f"{sum(edges.values())} calls, {len(EXCEPTIONS)} exceptions\n")
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--callers"]:
        sys.exit(_callers(*sys.argv[2:]))
    sys.exit(main([Path(one) for one in sys.argv[1:]] or FUNCTIONS))
