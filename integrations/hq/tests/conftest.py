"""The commands `hq` and `nextflow`, installed for these tests."""

import fcntl
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.conftest import Weft

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SCRIPT = """#!{python}
import sys
sys.path.insert(0, {source!r})
from {module} import {function}
sys.exit({function}())
"""
OPENED = [
    "java.io",
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.nio.charset",
    "java.nio.file.spi",
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
    "java.util.regex",
    "jdk.internal.misc",
    "jdk.internal.ref",
    "jdk.internal.vm",
    "sun.nio.ch",
    "sun.nio.fs",
]
"""Packages of Java that Nextflow's own launcher opens: else it keeps nothing to resume."""
QUICK = {
    "NXF_OFFLINE": "true",
    "NXF_ANSI_LOG": "false",
    "NXF_EXECUTOR_POLLINTERVAL": "200ms",
    "NXF_EXECUTOR_QUEUESTATINTERVAL": "1s",
    "NXF_EXECUTOR_EXITREADTIMEOUT": "60s",
}


@pytest.fixture(scope="session")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with `hq`, as pip makes it."""
    folder = tmp_path_factory.mktemp("bin")
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    for name, target in project["scripts"].items():
        module, _, function = target.partition(":")
        script = SCRIPT.format(
            python=sys.executable,
            source=str(HERE.parent / "src"),
            module=module,
            function=function,
        )
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def nextflow(bin_folder: Path) -> Path:
    """Give the same folder, with `nextflow`."""
    own = ROOT / ".tools/nextflow"
    own.mkdir(parents=True, exist_ok=True)
    with (own / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (own / ".stamp").exists():
            goal = ["dependency:copy-dependencies", f"-DoutputDirectory={own}"]
            subprocess.run(["mvn", "-q", "-B", "-f", HERE / "pom.xml", *goal], check=True)
            (own / ".stamp").touch()
    program = bin_folder / "nextflow"
    opened = " ".join(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED)
    line = f"exec java {opened} -cp '{own}/*' nextflow.cli.Launcher"
    program.write_text(f'#!/bin/sh\n{line} "$@"\n')
    program.chmod(0o755)
    return bin_folder


@pytest.fixture
def environment(weft: Weft, bin_folder: Path, tmp_path: Path) -> Mapping[str, str]:
    """Give what a shell of a user has."""
    home = {"NXF_HOME": str(tmp_path / ".nxf"), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    return weft.environment(home | QUICK)
