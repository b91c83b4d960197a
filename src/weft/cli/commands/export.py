"""`weft export`: write what has run in forms that others read."""

from datetime import UTC, datetime
from pathlib import Path

from weft.cli.commands.files import FileInTheWay, fetch_file
from weft.cli.input.options import SHARED, App, Flag, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.screen import note, one_line
from weft.client.api import Api
from weft.client.objects.crate_calls import read_ran
from weft.core.errors import Invalid
from weft.core.files.crate import Ran, crate_of, path_in_crate
from weft.core.text.amounts import counted

app = App(
    name="export",
    help="Write what has run in forms that others read.\n\n    weft export crate b12 snow",
)


@app.command
def crate(
    target: str,
    directory: Path,
    /,
    *,
    files: Flag = False,
    licence: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """Write a Workflow Run RO-Crate of a batch or a job that has ended.

        weft export crate b12 snow --files --licence CC-BY-4.0

    It says which jobs ran, when, for whom, with which inputs and parameters, and
    which files and products they made, with checksums. `workflow.json` in it has
    the jobs as they were asked for; values that look like secrets are masked.

    Args:
        target: `b12` or `b12.j7`.
        directory: An empty directory, or one that is made.
        files: Fetch the files that weft keeps of the jobs, too; without it, and of
            files in stores, the crate names the addresses.
        licence: Of what the crate describes: an address or a text.
    """
    which = parse_target(target, groups=False)
    _make(directory)

    async def ask(client: Api) -> Ran:
        ran = await read_ran(client, which.batch_id, which.job_id)
        if files:
            for job_id, left in ran.files.items():
                for one in (kept for kept in left if kept["address"] is None):
                    to = path_in_crate(job_id, one["path"])
                    await fetch_file(client, (which.batch_id, job_id), one, directory, to)
        return ran

    ran = shared.ask(ask)
    texts = crate_of(ran, made_at=datetime.now(UTC), licence=licence, holds_files=files)
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    n_files = sum(map(len, ran.files.values()))
    counts = {"n_jobs": len(ran.jobs), "n_files": n_files, "n_products": len(ran.products)}
    if not shared.as_json({"directory": str(directory.absolute()), **counts}):
        jobs, files_ = counted(len(ran.jobs), "job"), counted(n_files, "file")
        said = f"{jobs}, {files_} and {counted(len(ran.products), 'product')}"
        note(f"{one_line(str(directory))} has {said}")
    return 0


def _make(directory: Path) -> None:
    """Make it, unless it is there and empty."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        is_empty = not any(directory.iterdir())
    except OSError as error:
        raise Invalid(
            "the directory cannot be made",
            detail=f"{one_line(str(directory))}: {error.strerror}.",
            hint="Name a directory that is not there yet.",
        ) from error
    if not is_empty:
        raise FileInTheWay(
            f"{one_line(str(directory))} is not empty",
            detail="A crate is a directory of its own.",
            hint="Name a directory that is not there yet.",
        )
