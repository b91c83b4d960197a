"""`weft backup` and `weft restore`: keep the embedded database, and get it back."""

from pathlib import Path

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import settings_of


def backup(directory: Path, /, *, shared: Local = LOCAL) -> None:
    """Copy the database of this home and its keys into a new directory, while weft runs.

        weft backup /backup/monday

    Output and files of jobs (`logs/`, `files/`) are not in it.

    Args:
        directory: New or empty; only you may read it, as it holds secrets.
    """
    from weft.run.backup import run_backup  # noqa: PLC0415 (heavy: the server's side)

    shared.tell(run_backup(settings_of(shared), directory), f"backed up to {directory}")


def restore(directory: Path, /, *, shared: Local = LOCAL) -> None:
    """Check a backup, and make it the database of this home, which must be down.

        weft restore /backup/monday

    The database that was there is moved aside, to `pg.before-TIME` in the home.

    Args:
        directory: What `weft backup` has made.
    """
    from weft.run.backup import run_restore  # noqa: PLC0415 (heavy: the server's side)

    facts = run_restore(settings_of(shared), directory)
    shared.tell(facts, f"restored as of {facts['made_at']}; `weft up` starts it")
