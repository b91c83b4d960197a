"""A user of this machine who owns nothing but a home, and runs weft as anybody would.

Root becomes one in a mount namespace of its own, in which this Python can be read by others and
the user has a name and a home; whoever is no root is that user already.
"""

import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import pytest

UID = 54_321
NAME = "weft-plain"
WEFT = Path(sys.executable).with_name("weft")
PATHS = (Path(sys.base_prefix), Path(sys.prefix), Path(__file__).parents[2])
"""What the user reads of ours: Python, its packages, weft."""


class PlainUser:
    """Runs commands as that user, from `/`."""

    def __init__(self, place: Path) -> None:
        self.home = place / "user"
        self.shared = place / "shared"
        """A directory of the user's beside the home."""
        self.weft_home = self.home / ".local/share/weft"
        self._enter = _enter(place, self.home) if os.geteuid() == 0 else []

    def run(
        self, *words: str | Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, with the few variables that a login gives."""
        path = f"{WEFT.parent}:/usr/local/bin:/usr/bin:/bin"
        variables = {
            "HOME": str(self.home),
            "PATH": path,
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
            "USER": NAME,
            **(env or {}),
        }
        return subprocess.run(
            [*self._enter, *map(str, words)],
            check=False,
            capture_output=True,
            text=True,
            env=variables,
            cwd="/",
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    def weft(self, *words: str, **env: str) -> str:
        """Run a command of weft that succeeds; return what it printed."""
        done = self.run(WEFT, *words, env=env)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    @contextmanager
    def up(self, **env: str) -> Iterator[None]:
        """Let the user's weft be up."""
        self.weft("up", "--port", "0", "--detach", **env)
        try:
            yield
        finally:
            self.weft("down")


@contextmanager
def plain_user() -> Iterator[PlainUser]:
    """Give such a user. Skip the test where there cannot be one."""
    place = Path(f"/var/lib/weft-test-plain-{os.getpid()}")
    if os.geteuid() != 0:
        place = Path.home() / place.name
    place.mkdir(mode=0o755)
    try:
        user = PlainUser(place)
        for directory in (user.home, user.shared):
            directory.mkdir(mode=0o700)
            if os.geteuid() == 0:
                os.chown(directory, UID, UID)
        tried = user.run(sys.executable, "-c", "import weft.cli.app, os; print(os.geteuid())")
        if tried.returncode != 0 or tried.stdout.strip() == "0":
            pytest.skip(f"no plain user can run this weft: {tried.stderr.strip()[-300:]}")
        yield user
    finally:
        rmtree(place)


def _enter(place: Path, home: Path) -> Sequence[str]:
    """Return the words that run a command as the plain user, in a view of the host in which what
    it needs is readable.
    """
    closed = {one for path in PATHS for one in path.parents if not _lets_pass(one)}
    hidden = [one for one in closed if not closed & set(one.parents)]
    needed = [path for path in PATHS if set(path.parents) & set(hidden)]
    names = place / "passwd"
    names.write_text(Path("/etc/passwd").read_text() + f"{NAME}:x:{UID}:{UID}::{home}:/bin/sh\n")
    script = ["set -e", f"mount --bind {names} /etc/passwd"]
    for number, path in enumerate(needed):
        kept = place / f"kept-{number}"
        kept.mkdir()
        script.append(_words("mount", "--bind", path, kept))
    script += [_words("mount", "-t", "tmpfs", "-o", "mode=755", "none", one) for one in hidden]
    for number, path in enumerate(needed):
        script.append(_words("mkdir", "-p", path))
        script.append(_words("mount", "--bind", place / f"kept-{number}", path))
    become = ("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs")
    script.append(f'exec {_words(*become)} -- "$@"')
    return ["unshare", "--mount", "sh", "-c", "\n".join(script), "sh"]


def _words(*words: str | Path) -> str:
    return shlex.join(map(str, words))


def _lets_pass(directory: Path) -> bool:
    return bool(directory.stat().st_mode & stat.S_IXOTH)
