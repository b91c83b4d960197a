"""The wheels and the sdist, built once."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Built:
    """The files that a release consists of; beside the wheel are those of packages."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Give wheel and sdist of this checkout."""
    target = tmp_path_factory.mktemp("dist")
    subprocess.run([ROOT / "tools/wheels.sh", target], check=True, capture_output=True)
    return Built(*target.glob("weft-*.whl"), *target.glob("*.tar.gz"))
