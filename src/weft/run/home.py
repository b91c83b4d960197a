"""The home: the directory in which one weft keeps its database, its secrets and its logs.

    weft.toml       settings
    secrets.json    DSN by login, for each database (0600)
    client.json     url and token for clients (0600)
    callback.json   the key with which callbacks are signed (0600)
    secret-keys.json  the keys that encrypt secrets of jobs, the newest first (0600)
    pg/             data of the embedded server
    restore.json    while a restore is under way: of what, and where the former pg/ goes
    logs/           output of jobs
    files/          files that jobs have left
    checkpoints/    what jobs keep between their attempts
    log/            what the roles say, one file each
    run/            what lives with the processes:
      up.lock       locked while a `weft up` lives, names its pid
      ROLE.ready    what a role says when it is ready
      pg/           the embedded server's socket, or
      pg.json       where that is, if the path of run/pg is too long for a socket

Files that others read are replaced, never changed: a reader sees the old or the new one.
"""

import errno
import fcntl
import json
import os
import pwd
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.core.errors import Conflict
from weft.run.secrets_file import EMBEDDED, logins_in, with_logins
from weft.store.embedded import fits_socket

_LOOKS = 10
_LOOK_S = 0.01
_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space, or use another home (`--home DIR`)."),
    errno.EDQUOT: (
        "your disk quota is used up",
        "Free some space, or use another home (`--home DIR`).",
    ),
    errno.EROFS: ("the file system is read-only", "Use a home on another disk (`--home DIR`)."),
    errno.EACCES: ("you may not write there", "Use a home of your own (`--home DIR`)."),
    errno.EPERM: ("you may not write there", "Use a home of your own (`--home DIR`)."),
    errno.ENOTDIR: ("a part of the path is a file", "Use another home (`--home DIR`)."),
    errno.EEXIST: ("a file has that name", "Use another home (`--home DIR`)."),
}


class HomeNotUsable(Conflict, code="UP.HOME_NOT_USABLE"):
    """The home is not writable, or belongs to another user."""


class HomeInUse(Conflict, code="UP.HOME_IN_USE"):
    """Another `weft up` runs on this home."""

    def __init__(self, path: Path, pid: int | None) -> None:
        self.pid = pid
        super().__init__(
            f"weft is already running on {path}",
            detail=f"The `weft up` of process {pid} holds {path / 'run' / 'up.lock'}."
            if pid is not None
            else f"Another process holds {path / 'run' / 'up.lock'}.",
            hint="Stop it with `weft down`, or start another one with `--home DIR --port 0`.",
        )


@dataclass(frozen=True)
class InterruptedRestore:
    """A `weft restore` that has not reached its end."""

    backup: str
    moved_to: Path | None
    """Where it moved, or was about to move, the database of the home; None: there was none."""


class Home:
    """The paths and files of one home. Making one touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.pg = self.path / "pg"
        self.run = self.path / "run"
        self.logs = self.path / "logs"
        self.files = self.path / "files"
        self.role_logs = self.path / "log"
        self.secrets_file = self.path / "secrets.json"
        self.databases_file = self.logs / "databases.json"
        self.client_file = self.path / "client.json"
        self.callback_file = self.path / "callback.json"
        self.secret_keys_file = self.path / "secret-keys.json"
        self.restore_file = self.path / "restore.json"
        self.lock_file = self.run / "up.lock"

    def prepare(self) -> None:
        """Make the directories, or raise `HomeNotUsable` with the reason."""
        with explained(self.path):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            owner = self.path.stat().st_uid
            if owner != os.geteuid():
                raise _belongs_to_another(self.path, owner)
            for directory in (self.run, self.logs, self.role_logs):
                directory.mkdir(mode=0o700, exist_ok=True)
            probe = self.run / f".probe-{os.getpid()}"  # several roles begin at one time
            probe.write_bytes(b"weft")  # a full disk may still hold directories
            probe.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home for this process; raise `HomeInUse` if another one holds it.

        The kernel frees the lock with the process, however that ends.
        """
        with explained(self.path):
            handle = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock(handle)
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
            yield
            os.ftruncate(handle, 0)
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        """Take the lock, or raise. Somebody who only looks (`holder`) has it for a moment."""
        for _ in range(_LOOKS):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOOK_S)
            else:
                return
        raise HomeInUse(self.path, self._holder_of(handle))

    def holder(self) -> int | None:
        """Return the pid of the live `weft up` of this home; None if there is none, or if it
        cannot be seen from here, as one in another container.
        """
        return self._look()[1]

    def is_held(self) -> bool:
        """Say whether a `weft up` of this home lives, ready or not, seen from here or not."""
        return self._look()[0]

    def _look(self) -> tuple[bool, int | None]:
        """Return whether the lock is held, and the pid of the holder if that can be seen."""
        try:
            handle = os.open(self.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return False, None
        except OSError as error:
            raise _not_usable(self.path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True, self._holder_of(handle)
        else:
            return False, None
        finally:
            os.close(handle)

    def is_held_by(self, pid: int) -> bool:
        """Say whether a process has the lock file open. The number in it proves nothing: it may be
        that of an earlier holder, or of another PID namespace.
        """
        try:
            lock = self.lock_file.stat()
            opened = tuple(Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            return False
        return any(_is_same(path, lock) for path in opened)

    def _holder_of(self, handle: int) -> int | None:
        pid = _pid_in(handle)
        return pid if pid is not None and self.is_held_by(pid) else None

    def secrets(self, database: str | None = None) -> dict[str, str]:
        """Return DSN by login (`admin`, `weft_api`, …) for a database; None: for the one in use.

        Empty: it was never started here.
        """
        return logins_in(_read_json(self.secrets_file), database)

    def write_secrets(
        self, logins: Mapping[str, str], database: str = EMBEDDED, *, in_use: bool = True
    ) -> None:
        """Record the logins of a database, and that it is in use now; keep those of others."""
        known = _read_json(self.secrets_file)
        wanted = with_logins(known, database, logins, in_use=in_use)
        if wanted != known:
            write_private(self.secrets_file, wanted)

    def database_id(self, name: str) -> str | None:
        """Return which database was at an address when it was used last, by its name."""
        found = _read_json(self.databases_file).get(name)
        return str(found) if found else None

    def keep_database_id(self, name: str, database_id: str) -> None:
        """Remember which database is at an address."""
        known = _read_json(self.databases_file)
        write_private(self.databases_file, {**known, name: database_id})

    def begin_restore(self, backup: Path, moved_to: Path | None) -> None:
        """Mark that the database is about to be replaced, durably."""
        name = moved_to and moved_to.name
        write_private(self.restore_file, {"backup": str(backup), "moved_to": name})

    def end_restore(self) -> None:
        """Take the mark away, once all that was done under it is durable."""
        os.sync()
        self.restore_file.unlink()

    def interrupted_restore(self) -> InterruptedRestore | None:
        """Return the restore whose mark stands; None: none does. Call it while the home is locked:
        a restore that is under way has that mark, too.
        """
        if not self.restore_file.exists():
            return None
        known = _read_json(self.restore_file)
        try:
            name = known["moved_to"]
            return InterruptedRestore(known["backup"], name and self.path / Path(name).name)
        except (KeyError, TypeError) as error:
            raise HomeNotUsable(
                f"cannot use {self.path} as home",
                detail=f"A restore was interrupted, and {self.restore_file}, which says what it "
                "has moved aside, cannot be read.",
                hint=f"Name the database that you want {self.pg}, remove {self.restore_file}, and "
                "go on.",
            ) from error

    def secret_keys(self) -> Sequence[str]:
        """Return the keys that encrypt secrets of jobs, the newest first."""
        keys = _read_json(self.secret_keys_file).get("keys")
        return [str(key) for key in keys] if isinstance(keys, list) else []

    def keep_secret_keys(self, keys: Sequence[str]) -> None:
        """Replace these keys."""
        write_private(self.secret_keys_file, {"keys": list(keys)})

    def callback_key(self) -> str | None:
        """Return the key with which callbacks are signed, if there is one."""
        key = _read_json(self.callback_file).get("key")
        return str(key) if key else None

    def ensure_callback_key(self) -> None:
        """Make the key if there is none."""
        if self.callback_key() is None:
            write_private(self.callback_file, {"key": secrets.token_hex(32)})

    def token(self) -> str | None:
        """Return the local token, if there is one."""
        token = _read_json(self.client_file).get("token")
        return str(token) if token else None

    def write_client(self, url: str, token: str, cert_file: Path | None = None) -> None:
        """Record the url and the token for clients, unless the file holds them already.

        `cert_file`: holds the certificate that the api shows them; None: it does not speak TLS.
        """
        facts = {"url": url, "token": token}
        if cert_file is not None:
            facts["cert_file"] = str(cert_file)
        if _read_json(self.client_file) != facts:
            write_private(self.client_file, facts)

    def ready(self, role: str) -> Mapping[str, Any]:
        """Return the facts that a role wrote when it was ready; empty if it is not ready."""
        return _read_json(self.run / f"{role}.ready")

    @contextmanager
    def saying_ready(self, role: str, **facts: str | int) -> Iterator[None]:
        """Write `run/<role>.ready` with our pid and these facts; remove it at the end."""
        file = self.run / f"{role}.ready"
        write_private(file, {"pid": os.getpid(), **facts})
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    def socket_dir(self) -> Path:
        """Return where the embedded server's socket is; the same in every call.

        Usually `run/pg`. If that path is too long for the kernel, a private directory in the
        temporary one, which is recorded so that it is found again.
        """
        usual = self.run / "pg"
        if fits_socket(usual):
            return usual
        record = self.run / "pg.json"
        known = _read_json(record).get("socket_dir")
        if known and _is_private(Path(known)):
            return Path(known)
        made = Path(tempfile.mkdtemp(prefix="weft-"))
        write_private(record, {"socket_dir": str(made)})
        return made


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the system into `HomeNotUsable` with a hint."""
    try:
        yield
    except OSError as error:
        raise _not_usable(path, error) from error


def _not_usable(path: Path, error: OSError) -> HomeNotUsable:
    reason, hint = _REASONS.get(
        error.errno or 0, (error.strerror or str(error), "Use another home (`--home DIR`).")
    )
    return HomeNotUsable(
        f"cannot use {path} as home",
        detail=f"{reason[0].upper()}{reason[1:]}: {error.filename or path}.",
        hint=hint,
    )


def write_private(path: Path, document: Mapping[str, Any] | str) -> None:
    """Replace a file of JSON, or of this text, that only its owner may read; durable on return."""
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    with explained(path.parent.parent if path.parent.name == "run" else path.parent):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _read_json(path: Path) -> Mapping[str, Any]:
    """Return the document; empty if the file is missing or broken."""
    try:
        document = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    except OSError as error:
        raise _not_usable(path.parent, error) from error
    return document if isinstance(document, dict) else {}


def _is_same(path: Path, entry: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), entry)
    except OSError:  # closed meanwhile
        return False


def _pid_in(handle: int) -> int | None:
    text = os.pread(handle, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdigit() else None


def _is_private(directory: Path) -> bool:
    """Return whether a directory in a public place still belongs to us (or to the server) only."""
    try:
        entry = directory.lstat()
    except OSError:
        return False
    owner = entry.st_uid == os.geteuid() or os.geteuid() == 0
    return (
        owner and directory.is_dir() and not directory.is_symlink() and not entry.st_mode & 0o022
    )


def _belongs_to_another(path: Path, owner: int) -> HomeNotUsable:
    def name(uid: int) -> str:
        try:
            return pwd.getpwuid(uid).pw_name
        except KeyError:
            return f"user {uid}"

    return HomeNotUsable(
        f"cannot use {path} as home",
        detail=f"It belongs to {name(owner)}, and you are {name(os.geteuid())}.",
        hint=f"Use a home of your own (`--home DIR`), or run weft as {name(owner)}.",
    )
