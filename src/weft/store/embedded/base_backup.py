"""Copies of a running server's data directory, by PostgreSQL's own programs, as the caller."""

import os
from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from weft.core.bounded import Unreadable, read_json
from weft.store.embedded.account import Account
from weft.store.embedded.server import SUPERUSER, EmbeddedServerFailed, run_program

_OTHER_COPY = "Use another copy of it, or an older backup."


def take_backup(target: Path, socket_dir: Path, password: str) -> None:
    """Copy the data of a running server with the log that makes it consistent."""
    run_program(
        "could not back up the embedded PostgreSQL",
        f"Check space and rights of {target.parent}.",
        "pg_basebackup",
        f"--pgdata={target}",
        f"--host={socket_dir}",
        f"--username={SUPERUSER}",
        "--no-password",
        "--checkpoint=fast",
        "--manifest-checksums=SHA256",
        cwd=target.parent,
        account=_caller(),
        PGPASSWORD=password,
    )


def verify_backup(source: Path) -> None:
    """Raise `EmbeddedServerFailed` unless all files of a backup are as they were written.

    As pg_verifybackup does it, which the package has, but which does not run everywhere.
    """
    failure = f"the backup in {source.parent} is damaged"
    try:
        manifest = read_json((source / "backup_manifest").read_bytes(), dict[str, Any])
        log = manifest["WAL-Ranges"][0]
        wrong = _first_changed(source, manifest)
    except (OSError, ValueError, LookupError, TypeError, Unreadable) as error:
        log, wrong = {}, f"backup_manifest cannot be read: {error}"
    if wrong is not None:
        raise EmbeddedServerFailed(failure, detail=f"{wrong}.", hint=_OTHER_COPY)
    run_program(
        failure,
        _OTHER_COPY,
        "pg_waldump",
        "--quiet",
        f"--path={source / 'pg_wal'}",
        f"--timeline={log['Timeline']}",
        f"--start={log['Start-LSN']}",
        f"--end={log['End-LSN']}",
        cwd=source,
        account=_caller(),
    )


def _first_changed(source: Path, manifest: Mapping[str, Any]) -> str | None:
    document = (source / "backup_manifest").read_bytes()
    begin = document[: document.rindex(b'"Manifest-Checksum"')]
    if sha256(begin).hexdigest() != manifest["Manifest-Checksum"]:
        return "backup_manifest was changed"
    for file in manifest["Files"]:
        path = source / file["Path"]
        if not path.is_file():
            return f"{path} is missing"
        with path.open("rb") as content:
            if file_digest(content, "sha256").hexdigest() != file["Checksum"]:
                return f"{path} was changed"
    return None


def _caller() -> Account:
    return Account(os.geteuid(), os.getegid(), switch=False)
