"""The previous release, built from its commit and installed beside the present one."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from release.pythons import bare_environment

ROOT = Path(__file__).resolve().parents[2]
IN_PLACE = ("src/weft/sql/schema", "tests/migrations/previous_signatures.txt")
"""What each commit changes that changes a table or a signature in place."""
COMMAND_S = 120


@dataclass(frozen=True)
class Release:
    """Something that runs weft: a Python that finds one of its versions."""

    python: Path

    def run(self, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
        """Run `python …` to its end."""
        return subprocess.run(
            [self.python, *words],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=bare_environment(home),
            timeout=COMMAND_S,
            cwd="/",
        )

    @contextmanager
    def role(self, name: str, home: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a role until the block ends; its log goes to `NAME.log` in the home."""
        own = {"WEFT_HOME": str(home), "WEFT_PORT": "0"}
        environment = {**bare_environment(home), **own, **environment}
        with Path(home, f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [self.python, "-m", f"weft.run.{name}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd="/",
            )
            try:
                yield process
            finally:
                process.terminate()
                process.wait(COMMAND_S)


PRESENT = Release(Path(sys.executable))


def install_previous(base: Path, commit: str | None = None) -> Release:
    """Build the wheel of a commit, else of the previous release, and put it into an environment of
    its own.

    Until version 0.1.0 is released that is the newest commit with a change in place; then its tag.
    What it depends on is taken from the present environment, so no index is needed.
    """
    _unpack(commit or _newest_change_in_place(), base / "source")
    return install(base / "source", base)


def install(source: Path, base: Path) -> Release:
    """Build the wheels of these sources and put them into an environment of its own."""
    for folder in (source, *(source / "packages").glob("*/")):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", base, "-t", "wheel"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", base / "venv"], check=True)
    (packages,) = (base / "venv").glob("lib/python*/site-packages")
    for wheel in base.glob("*.whl"):
        with zipfile.ZipFile(wheel) as files:
            files.extractall(packages)  # noqa: S202 (our own)
    # Ours come after its own: the environment's weft is the old one.
    (packages / "present.pth").write_text(sysconfig.get_paths()["purelib"] + os.linesep)
    return Release(base / "venv" / "bin" / "python")


def _newest_change_in_place() -> str:
    done = subprocess.run(
        ["git", "log", "-1", "--format=%H", "--", *IN_PLACE],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    return done.stdout.strip() or pytest.skip("this is no clone with a history")


def _unpack(commit: str, target: Path) -> None:
    archive = subprocess.run(
        ["git", "archive", commit], check=False, capture_output=True, cwd=ROOT
    )
    if archive.returncode != 0:
        pytest.skip(f"the history of this clone does not reach back to {commit}")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(target)  # noqa: S202 (our own; `filter` is not in every 3.11)
