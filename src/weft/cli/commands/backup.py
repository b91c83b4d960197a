"""`weft backup`, `restore`, `install`: keep the database of this host; make weft its service."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import settings_of
from weft.cli.input.signature import Parameter
from weft.cli.terminal.report import note
from weft.core.text.amounts import counted
from weft.settings import home_of

_NAMED_MAX = 10


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
    if shared.json:
        return
    if (conflicts := facts["conflicts"]) is None:
        note("which jobs ran since is unknown: no database was there that starts")
        return
    if again := conflicts["again"]:
        note(f"{counted(len(again), 'job')} that ran since may run again: {_first(again)}")
    if missing := conflicts["missing"]:
        count = counted(sum(one["n_jobs"] for one in missing), "job")
        note(f"{count} that came since are missing: {_first([one['first'] for one in missing])}")
    if again or missing:
        note(f"{conflicts['file']} names all of them")


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX:,} more" * (len(names) > _NAMED_MAX)
    return ", ".join(names[:_NAMED_MAX]) + more


def install(
    *,
    systemd: Annotated[bool, Parameter(negative="")],  # noqa: ARG001 (the only kind there is)
    user: Annotated[bool, Parameter(negative="")] = False,
    root: Path = Path("/"),
    shared: Local = LOCAL,
) -> None:
    """Write hardened units of systemd for this weft; `systemctl enable --now` starts one.

        weft install --systemd
        weft install --systemd --user

    `weft.service` is all of weft on one host; `weft-api`, `weft-driver` and
    `weft-worker` are for several hosts with an external database.

    Args:
        systemd: Units of systemd, the only kind there is.
        user: Services of your own, without root, on your home.
        root: Directory of the system for which they are, such as that of an image.
    """
    from weft.run.systemd import write_units  # noqa: PLC0415 (of the server's side)

    paths = [str(path) for path in write_units(root, home_of(shared.home) if user else None)]
    shared.tell({"units": paths}, "\n".join(paths), print)
