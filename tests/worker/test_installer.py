"""What packages may do to a worker that installs them.

Nothing of theirs runs; memory, disk, files and time are limited.
"""

import io
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from weft.worker.agent import environments

FOLDER: Final = Path(environments.__file__).parent
OWN: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
MIB: Final = 1 << 20
DISK, FILES, MEMORY = 64 * MIB, 8000, 512 * MIB
PATHS: Final = {"uv": f"{Path(sys.executable).parent}:/usr/bin:/bin", "pip": "/usr/bin:/bin"}
INFO: Final = "bad-1.0.dist-info"
Install = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(params=["uv", pytest.param("pip", marks=pytest.mark.heavy)])
def install(request: pytest.FixtureRequest, tmp_path: Path) -> Install:
    """Install the package `bad` from what is in `index`, as an agent does."""

    def run(
        *before: str, index: str = str(tmp_path / "index")
    ) -> "subprocess.CompletedProcess[str]":
        command: tuple[str | Path, ...] = (
            *before,
            *("/bin/sh", FOLDER / "installer.sh", tmp_path / "made", OWN, sys.executable, "4"),
            *(FOLDER / "install_limits.py", str(DISK), str(FILES), str(MEMORY)),
        )
        env = {"PATH": PATHS[request.param], "INDEX": index}
        return subprocess.run(
            command, env=env, input="bad\n", text=True, capture_output=True, check=False
        )

    (tmp_path / "index").mkdir()
    return run


def write_wheel(folder: Path, files: dict[str, str | int]) -> None:
    """Make a wheel of files with these texts, or of this number of bytes."""
    texts = {
        f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n\n",
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{INFO}/RECORD": "",
    }
    path = folder / "index" / "bad-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name in {**texts, **files}:
            more = files.get(name, "")
            with wheel.open(name, "w", force_zip64=True) as file:
                file.write(texts.get(name, "").encode())
                if isinstance(more, str):
                    file.write(more.encode())
                    continue
                for _ in range(more // MIB):
                    file.write(b"a" * (MIB - 1) + b"\n")


LARGE: Final[dict[str, tuple[dict[str, str | int], tuple[str, ...]]]] = {
    "one file": ({"bad/a.bin": 2 * DISK}, ("requirements_cache_bytes", "File too large")),
    "many": ({f"bad/{n}.bin": 4 * MIB for n in range(64)}, ("requirements_cache_bytes",)),
    "data": ({"bad-1.0.data/data/x": 2 * DISK}, ("requirements_cache_bytes", "File too large")),
    "files": ({f"bad/{n}.txt": "" for n in range(2 * FILES)}, ("requirements_files_max",)),
    "METADATA": ({f"{INFO}/METADATA": 400 * MIB}, ("MemoryError", "memory allocation of")),
    "RECORD": ({f"{INFO}/RECORD": 400 * MIB}, ()),
    "WHEEL": ({f"{INFO}/WHEEL": 400 * MIB}, ()),
    "entry points": ({f"{INFO}/entry_points.txt": 400 * MIB}, ()),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_what_is_too_large_is_refused_and_leaves_nothing(
    install: Install, tmp_path: Path, kind: str
) -> None:
    """Whatever part of a package is large when it is unpacked."""
    files, words = LARGE[kind]
    write_wheel(tmp_path, files)
    ended = install()

    assert ended.returncode
    assert not words or any(word in ended.stdout for word in words), ended.stdout
    assert [*(tmp_path / "made").iterdir()] == []


RUNS: Final = "open({!r}, 'a').write(__file__ if '__file__' in globals() else 'pth')\n"
PLACES: Final = (
    "bad.py",
    "sitecustomize.py",
    "usercustomize.py",
    "encodings/__init__.py",
    "pip/__init__.py",
    "pip/_internal/__init__.py",
    "pip/_internal/utils/misc.py",
    "pip/_vendor/rich/__init__.py",
    "setuptools/__init__.py",
    "_distutils_hack/__init__.py",
    "keyring.py",
    "_manylinux.py",
    "truststore.py",
    "setup.py",
    "bad-1.0.data/purelib/_virtualenv.py",
    "bad-1.0.data/data/bin/activate_this.py",
)


@pytest.mark.slow
def test_nothing_of_a_package_runs_when_it_is_installed(install: Install, tmp_path: Path) -> None:
    """From no place from which Python, pip or uv take code."""
    ran = tmp_path / "ran"
    code, program = RUNS.format(str(ran)), f"#!/bin/sh\necho program >> {ran}\n"
    programs = (f"bad-1.0.data/{to}" for to in ("scripts/sh", "data/bin/uv", "scripts/pip"))
    lines: dict[str, str | int] = {"bad.pth": f"import sys; {code}"}
    write_wheel(tmp_path, lines | dict.fromkeys(PLACES, code) | dict.fromkeys(programs, program))
    ended = install()

    assert not ran.exists(), ran.read_text()
    assert ended.returncode == 0, ended.stdout


@pytest.mark.slow
def test_package_that_would_be_built_is_refused(install: Install, tmp_path: Path) -> None:
    """Its setup.py and the backend that it names do not run, also for its metadata."""
    ran = tmp_path / "ran"
    files = {
        "setup.py": RUNS.format(str(ran)),
        "backend.py": RUNS.format(str(ran)),
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        'backend-path = ["."]\n',
        "PKG-INFO": "Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n",
    }
    with tarfile.open(tmp_path / "index" / "bad-1.0.tar.gz", "w:gz") as sdist:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"bad-1.0/{name}")
            entry.size = len(text)
            sdist.addfile(entry, io.BytesIO(text.encode()))
    ended = install()

    assert ended.returncode
    assert not ran.exists()
    assert [*(tmp_path / "made").iterdir()] == []


@pytest.mark.slow
def test_installation_that_takes_too_long_leaves_nothing(install: Install, tmp_path: Path) -> None:
    """From an index that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ended = install("timeout", "-k", "9", "2", index=index)

    assert ended.returncode == 124
    assert [*(tmp_path / "made").iterdir()] == []
