"""The wheel and the sdist, built once."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Built:
    """The files that a release consists of."""

    wheel: Path
    sdist: Path


def build(source: Path, target: Path, *kinds: str) -> None:
    """Build with the backend that is installed here: needs no index."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", target, *kinds],
        check=True,
        capture_output=True,
        cwd=source,
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Give wheel and sdist of this checkout."""
    target = tmp_path_factory.mktemp("dist")
    build(ROOT, target)
    return Built(*target.glob("*.whl"), *target.glob("*.tar.gz"))
