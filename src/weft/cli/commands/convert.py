"""`weft convert`, `weft import`: batch documents of other systems' workflows, and their jobs."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any, Final

from weft.cli.input.documents import UnreadableDocument, able_to, opened_to_write
from weft.cli.input.options import LOCAL, SHARED, App, Flag, Local, Parameter, Shared, WrongOption
from weft.cli.input.packed import unpacked
from weft.cli.terminal.screen import note, print_json
from weft.core.errors import Invalid
from weft.core.graph.dax import DaxJob, DaxReader, UnreadableWorkflow, Workflow
from weft.core.text.amounts import counted

app = App(name="convert", help="Convert workflows of other systems to batch documents.")

MICROSECONDS = 6


class ImpossibleScale(Invalid, code="CLI.IMPOSSIBLE_SCALE"):
    """A factor that gives no valid run time."""


@app.command
def dax(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    scale: float = 1.0,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    shared: Local = LOCAL,
) -> None:
    """Convert a Pegasus workflow to a batch document for `weft submit`.

        weft convert dax Montage_1000.xml.gz --scale 0.01 -o montage.json

    Each job sleeps for as long as it ran when the workflow was recorded, so you
    can try the shape of a real workflow without its programs and data. Its name
    is its id in the file; its attributes say what it ran.

    Args:
        file: The DAX file, plain or compressed by gzip; `-`: standard input.
        scale: Factor for the run times; with 0, jobs do nothing.
        output: Where to write the document (JSON) instead of standard output.
    """
    if not 0 <= scale < math.inf:
        raise ImpossibleScale(
            f"{scale} is not a scale",
            detail="Run times are multiplied by it.",
            hint="Give a number that is 0 or more, such as 0.01.",
        )
    workflow = _read(file)
    with ExitStack() as stack:
        target: IO[str] = sys.stdout
        if output is not None:
            target = stack.enter_context(opened_to_write(output))
        for piece in document_of(workflow, scale):
            target.write(piece)
    facts = {"jobs": len(workflow.jobs), "parents": workflow.n_edges, "output": str(output)}
    if output is not None and shared.json:
        print_json(facts)
    elif output is not None:
        times = counted(workflow.n_edges, "time")
        note(f"{counted(len(workflow.jobs), 'job')}, {times} one waits for another one")


def document_of(workflow: Workflow, scale: float) -> Iterator[str]:
    """Yield the document in pieces, one for each job."""
    if workflow.name:
        yield f'{{"name": {json.dumps(workflow.name[:256])},\n"jobs": [\n'
    else:
        yield '{"jobs": [\n'
    for index, (job, parents) in enumerate(zip(workflow.jobs, workflow.parents, strict=True)):
        yield (",\n" if index else "") + json.dumps(_job_of(job, parents, scale))
    yield "\n]}\n"


def _job_of(job: DaxJob, parents: list[str], scale: float) -> dict[str, Any]:
    found: dict[str, Any] = {"name": job.name}
    seconds = round(job.runtime_s * scale, MICROSECONDS)
    if seconds:
        found["command"] = ["sleep", f"{seconds:.{MICROSECONDS}f}".rstrip("0").rstrip(".")]
    if job.attributes:
        found["attributes"] = dict(job.attributes)
    if parents:
        found["parents"] = parents
    return found


def _read(file: str) -> Workflow:
    reader = DaxReader()
    for piece in unpacked(file, refused=UnreadableWorkflow, what="the workflow"):
        reader.feed(piece)
    return reader.finish()


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
    door, jobs = _read_dump(system, dump)
    found = shared.ask(lambda client: client.import_jobs(door, jobs, check=check))
    if shared.json:
        print_json({"n_jobs": len(jobs), **found})
    elif check:
        note(f"{counted(len(jobs), 'job')} can be imported")
    else:
        note(f"{counted(found['n_new'], 'job')} imported, {found['n_known']:,} known already")


def _read_dump(system: str, dump: Path) -> tuple[str, Sequence[Mapping[str, Any]]]:
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
