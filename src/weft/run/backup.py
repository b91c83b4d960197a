"""`weft backup` and `weft restore`: the embedded server and the secrets of its home.

DIR/pg/          the data directory, as pg_basebackup copies it from the running server
DIR/*.json       what the data is of no use without: logins and keys
DIR/weft.toml    the settings
DIR/backup.json  written last: release, schema, time, the sums of these files, and its own

A restore takes several steps. From the first to the last, HOME/restore.json stands there: `weft
up` refuses such a home, and the next restore begins anew.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from weft import __version__
from weft.core.bounded import Unreadable, read_json
from weft.core.errors import Conflict, WeftError
from weft.faults import fault_point
from weft.run.admin import ask_owner
from weft.run.home import Home, write_private
from weft.run.login import password_of
from weft.run.secrets_file import EMBEDDED
from weft.settings import Settings
from weft.sql import number_of, whole_schema
from weft.store.embedded import EmbeddedServer, take_backup, verify_backup

_MANIFEST = "backup.json"
CONFLICTS: Final = "restored-"
"""Begins the name of a file of the home: what jobs a restore has forgotten."""
_KEPT = ("weft.toml", "secrets.json", "secret-keys.json", "callback.json")
_SUMMED = (*_KEPT, "pg/backup_manifest")
_SUM: Final = "sum"
"""The manifest's own sum, of all its other fields."""
_TOLD: Final = ("release", "schema", "begun_at", "made_at")
"""What a restore returns of a manifest."""
_after_step = fault_point("restore.after_step")


class BackupRefused(Conflict, code="BACKUP.REFUSED"):
    """There is nothing to back up here, or no place for it."""


class BackupUnusable(Conflict, code="BACKUP.UNUSABLE"):
    """A directory is no backup, a damaged one, or one of a newer release."""


def run_backup(settings: Settings, target: Path) -> Mapping[str, Any]:
    """Copy the running embedded server and the secrets of its home; return what was written.

    All or nothing: without its last file, a directory is no backup.
    """
    _check_embedded(settings, f"pg_dump --format=custom --file={target}/weft.dump DSN")
    home, target = Home(settings.home), target.absolute()
    schema = ask_owner(settings, lambda admin: admin.status()).version
    with _whole_or_removed(target / "pg"):
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise BackupRefused(
                f"{target} is not empty",
                detail="A backup is never mixed with other files, nor with an earlier backup.",
                hint="Name a new directory, for instance with the date in it.",
            )
        target.chmod(0o700)
        password = password_of(home.secrets(EMBEDDED)["admin"])
        start = datetime.now(UTC).isoformat()
        take_backup(target / "pg", home.socket_dir(), password)
        _copy_kept(home.path, target)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        facts = {
            "release": __version__,
            "schema": schema,
            "begun_at": start,
            "made_at": made,
            "sums": _sums(target),
        }
        (target / _MANIFEST).write_text(json.dumps({**facts, _SUM: _sum_of(facts)}, indent=1))
        os.sync()
    return {"directory": str(target), **facts}


def run_restore(settings: Settings, source: Path) -> Mapping[str, Any]:
    """Check a backup, and make it the database of the home, which must be down.

    The database that was there is moved aside. Keys that the home has stay, and are joined by
    those of the backup. After a restore that was killed, the next one begins anew.
    """
    _check_embedded(settings, f"pg_restore --single-transaction --dbname=DSN {source}/weft.dump")
    home, source = Home(settings.home), source.absolute()
    home.prepare()
    with home.locked():
        manifest = _checked(source)
        server = EmbeddedServer(home.pg, home.socket_dir())
        _undo_interrupted(home)
        conflicts = None
        if server.is_initialised:
            server.stop()  # the remains of a killed `weft up`
            conflicts = _conflicts(settings, server, manifest)
        fresh = home.path / "pg.restored"
        with _whole_or_removed(fresh):
            shutil.rmtree(fresh, ignore_errors=True)  # of a restore that was killed
            server.copy_data(source / "pg", fresh)
            aside = _place_aside(home.pg)
            home.begin_restore(source, aside)
            _after_step()
            if aside:
                home.pg.rename(aside)
                _after_step()
            fresh.rename(home.pg)
            _after_step()
        _take_secrets(home, Home(source))
        _after_step()
        if conflicts is not None:
            name = f"{CONFLICTS}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.json"
            write_private(home.path / name, json.dumps(conflicts, indent=1))
            conflicts["file"] = str(home.path / name)
            _after_step()
        home.end_restore()
    facts = {"home": str(home.path), "moved_to": aside and str(aside), "conflicts": conflicts}
    return facts | {name: manifest[name] for name in _TOLD}


def _undo_interrupted(home: Home) -> None:
    """Put back what a restore that was killed had moved aside; what it had copied goes."""
    interrupted = home.interrupted_restore()
    if interrupted is None:
        return
    aside = interrupted.moved_to
    if aside is None or aside.exists():
        shutil.rmtree(home.pg, ignore_errors=True)
    if aside is not None and aside.exists():
        aside.rename(home.pg)


def _conflicts(
    settings: Settings, server: EmbeddedServer, manifest: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return which jobs the database that is given up has seen run, or come, since the backup;
    None: it does not start any more.
    """
    since = datetime.fromisoformat(manifest["begun_at"])
    try:
        server.start()
        rows = ask_owner(settings, lambda admin: admin.changed_since(since))
    except WeftError:
        return None
    finally:
        server.stop()
    again = [row["first"] for row in rows if row["n_jobs"] is None]
    missing = [row for row in rows if row["n_jobs"] is not None]
    return {"since": since.isoformat(), "again": again, "missing": missing}


def _check_embedded(settings: Settings, command: str) -> None:
    if settings.database is not None:
        raise BackupRefused(
            "the database is not the one that weft runs",
            detail="`weft backup` and `weft restore` are for the server of `weft up`.",
            hint=f"As the owner of the database, type `{command}`.",
        )


def _checked(source: Path) -> Mapping[str, Any]:
    try:
        manifest = read_json((source / _MANIFEST).read_bytes(), dict[str, Any])
        own_sum, schema = manifest.pop(_SUM), number_of(str(manifest["schema"]))
        sums, release = manifest["sums"], manifest["release"]
        _ = [datetime.fromisoformat(manifest[name]) for name in ("begun_at", "made_at")]
    except (OSError, ValueError, KeyError, TypeError, Unreadable) as error:
        raise BackupUnusable(
            f"{source} is not a whole backup",
            detail=f"{source / _MANIFEST}, which `weft backup` writes last, cannot be read.",
            hint="Name the directory that was given to `weft backup`, or an older backup.",
        ) from error
    if own_sum != _sum_of(manifest):
        raise BackupUnusable(
            f"the backup in {source} is damaged",
            detail=f"{source / _MANIFEST} was changed after the backup.",
            hint="Use another copy of it, or an older backup.",
        )
    if schema > number_of(whole_schema().name):
        raise BackupUnusable(
            "the backup was made by a newer weft",
            detail=f"weft {release} made it, this is weft {__version__}.",
            hint=f"Install weft {release} or newer, then restore.",
        )
    if sums != _sums(source):
        raise BackupUnusable(
            f"the backup in {source} is damaged",
            detail=f"{', '.join(_SUMMED)}: one of them was changed after the backup.",
            hint="Use another copy of it, or an older backup.",
        )
    verify_backup(source / "pg")
    return manifest  # type: ignore[no-any-return]


def _names_in(directory: Path) -> Iterator[str]:
    return (name for name in _KEPT if (directory / name).is_file())


def _sums(directory: Path) -> dict[str, str]:
    return {
        name: sha256((directory / name).read_bytes()).hexdigest()
        for name in _SUMMED
        if (directory / name).is_file()
    }


def _sum_of(facts: Mapping[str, Any]) -> str:
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _place_aside(data: Path) -> Path | None:
    """Return where a database goes that a restore replaces; None: there is none."""
    if not data.exists():
        return None
    return data.with_name(f"pg.before-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")


def _take_secrets(home: Home, backup: Home) -> None:
    home.write_secrets(backup.secrets(EMBEDDED), EMBEDDED)
    home.keep_secret_keys(list(dict.fromkeys([*home.secret_keys(), *backup.secret_keys()])))
    _copy_kept(backup.path, home.path)


def _copy_kept(source: Path, target: Path) -> None:
    """Copy what is kept and is not there."""
    for name in set(_names_in(source)) - set(_names_in(target)):
        shutil.copy2(source / name, target / name)


@contextmanager
def _whole_or_removed(directory: Path) -> Iterator[None]:
    """Leave nothing half written, and say why it is not there."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, BackupRefused):
            shutil.rmtree(directory, ignore_errors=True)
        if isinstance(error, OSError):
            raise BackupRefused(
                f"cannot write {directory}",
                detail=f"{error.strerror}: {error.filename}.",
                hint="Free some space, or name another directory.",
            ) from error
        raise
