"""`weft import`: take over jobs that another system has run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.cli.input.documents import UnreadableDocument, able_to
from weft.cli.input.options import SHARED, Flag, Shared, WrongOption
from weft.cli.terminal.screen import note, print_json
from weft.core.text.amounts import counted

_SHOWN: Final = 10


def import_jobs(
    system: str, dump: Path, /, *, check: Flag = False, shared: Shared = SHARED
) -> None:
    """Take over jobs that have ended in another system, with their ids and dates.

        weft import agave jobs.jsonl

    Each becomes a batch without jobs, which that system's clients see at its door.
    They are not billed. All lines are checked before the first job is taken over;
    to repeat the command is safe. Only for administrators of the tenant.

    Args:
        system: Which system has written the dump: `agave`.
        dump: Lines of JSON: jobs, and the events of their histories.
        check: Only say what is wrong.
    """
    door, jobs = _read(system, dump)
    found = shared.ask(lambda client: client.import_jobs(door, jobs, check=check))
    if shared.json:
        print_json({"n_jobs": len(jobs), **found})
    elif check:
        note(f"{counted(len(jobs), 'job')} can be imported")
    else:
        note(f"{counted(found['n_new'], 'job')} imported, {found['n_known']:,} known already")


def _read(system: str, dump: Path) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return the name of the door and the jobs. Raise `UnreadableDocument`, `WrongOption`."""
    from weft.run.doors import dump_formats  # noqa: PLC0415 (doors take time to load)

    formats = dump_formats()
    if system not in formats:
        known = ", ".join(sorted(formats))
        raise WrongOption(f"nothing is imported from {system!r}", hint=f"Known are: {known}.")
    door, form = formats[system]
    with able_to(f"read {dump}", "Name another file."), dump.open("rb") as lines:
        jobs, problems = form.read(lines)
    if problems:
        shown = [f"line {one.line}, {one.field or 'whole'}: {one.message}" for one in problems]
        raise UnreadableDocument(
            f"{dump} cannot be imported: {counted(len(problems), 'mistake')}",
            detail="; ".join(shown[:_SHOWN]) + ".",
            hint="Nothing was imported. Mend these lines and repeat the command.",
        )
    return door, jobs
