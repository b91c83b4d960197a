"""What is in the wheel and the sdist, and what they say of themselves."""

import email.parser
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from weft.run.doctor import PYTHON_MAX, PYTHON_MIN

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {
    ".py",
    ".sql",
    ".conf",
    ".typed",
    ".json",
    ".lark",
    ".html",
    ".css",
    ".js",
    ".svg",
    ".md",
    ".service",
    ".sh",
    ".bash",
    ".fish",
    ".zsh",
}
SDIST_FILES = {"LICENSE", "README.md", "CHANGELOG.md", "PKG-INFO", "pyproject.toml", ".gitignore"}


def tracked(folder: str) -> set[str]:
    told = subprocess.check_output(["git", "ls-files", "-z", folder], text=True, cwd=ROOT)
    return {name for name in told.split("\0") if name and (ROOT / name).exists()}


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.parser.Parser().parsestr(archive.read(name).decode())


def test_wheel_holds_every_file_of_the_package_and_no_other_kind(built: Any) -> None:  # noqa: ANN401 (conftest.py cannot be imported)
    with zipfile.ZipFile(built.wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]

    assert {f"src/{name}" for name in names} >= tracked("src/weft")
    assert {PurePosixPath(name).parts[0] for name in names} == {"weft"}
    assert {PurePosixPath(name).suffix for name in names} <= SUFFIXES
    assert any(name.startswith("weft/sql/schema/") for name in names)
    assert "weft/core/query/grammar.lark" in names


def test_wheel_needs_no_compiler_and_names_its_pythons(built: Any) -> None:  # noqa: ANN401
    metadata = metadata_of(built.wheel)
    classifiers = metadata.get_all("Classifier", [])

    assert built.wheel.name.endswith("-py3-none-any.whl")
    assert metadata["Requires-Python"] == ">=3.11"
    pythons = [one.rpartition(" ")[2] for one in classifiers if "Python :: 3." in one]
    assert pythons == [f"3.{minor}" for minor in range(PYTHON_MIN[1], PYTHON_MAX[1] + 1)]
    for file in ("README.md", "CHANGELOG.md", "src/weft/run/doctor.py"):
        assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / file).read_text(), file
    assert metadata["License-Expression"] == "Apache-2.0"


def test_sdist_holds_what_the_wheel_is_made_of(built: Any) -> None:  # noqa: ANN401
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert names >= SDIST_FILES | tracked("src/weft")
    assert {name for name in names if not name.startswith("src/weft/")} == SDIST_FILES


def test_sdist_makes_the_same_wheel(built: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """Outside the checkout, without git."""
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path)  # noqa: S202 (our own; `filter` is not in every 3.11)
    [source] = tmp_path.iterdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", tmp_path, "-t", "wheel"],
        check=True,
        capture_output=True,
        cwd=source,
    )
    [again] = tmp_path.glob("*.whl")
    assert again.read_bytes() == built.wheel.read_bytes()
