"""Packages that jobs require: installed once by each worker, from an index of packages."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Weft, until, weft_up
from weft import Executor
from weft.ports.tree_cache import free_some
from weft.wire.requirements import BYTES_MAX, plain_requirements
from weft.worker.agent import environments

INSTALLER = Path(environments.__file__).with_name("installer.sh")
WITH_UV = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
INFO = "tiny-1.0.dist-info"
FILES = {
    "tiny.py": "def main(): print('tiny')\ndef double(n): return 2 * n\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\ntiny=tiny:main\n",
    f"{INFO}/RECORD": "",
}
LEAD_ELSEWHERE = (
    "-r other.txt",
    "--index-url https://a",
    "-e .",
    "a @ file:///etc",
    "git+https://a/b",
    "./a.whl",
    "a==${HOME}",
    "a --config-settings=x=y",
    "a; python_version<'3' --pre",
    "[[a]]",
    "a \\\n-r b",
)


def write_wheel(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return Path(wheel.filename or "")


class Index(SimpleHTTPRequestHandler):
    """An index of packages, which answers while `is_open`."""

    is_open, asked = threading.Event(), 0

    def do_GET(self) -> None:
        Index.asked += 1
        self.is_open.wait()
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """A weft whose worker installs from the index."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("index")
    write_wheel(folder / "tiny")
    Index.is_open.set()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (home / "weft.toml").touch(0o600)
        text = f'requirements_index = "http://127.0.0.1:{server.server_port}"\n'
        (home / "weft.toml").write_text(text)
        with weft_up(home, **WITH_UV) as found:
            yield found
        Index.is_open.set()
        server.shutdown()


def count(site: Weft, event: str) -> int:
    return (site.home / "log" / "worker.log").read_text().count(f"worker.environment_{event}")


def installers(site: Weft) -> list[int]:
    """Return their groups of processes."""
    find = ("pgrep", "-f", f"timeout.*installer.sh {site.home}")
    return [*map(int, subprocess.run(find, stdout=subprocess.PIPE, check=False).stdout.split())]


@contextmanager
def delay(site: Weft, folder: Path, text: str, jobs: int = 1) -> Iterator[tuple[list[str], int]]:
    """Let the index hold up jobs to the end, when the last succeeds; yield them, the group."""
    before, file = Index.asked, folder / "r.txt"
    file.write_text(text)
    Index.is_open.clear()
    line = ("run", "--detach", "--requirements", str(file), "--", "tiny")
    names = [site.told(*line).decode().split()[0] for _ in range(jobs)]
    until(lambda: Index.asked > before)
    yield names, installers(site)[-1]
    Index.is_open.set()
    site.run("wait", names[-1])
    assert site.told("logs", names[-1]) == b"tiny\n"


def double(n: int) -> int:
    import tiny  # type: ignore[import-not-found]  # noqa: PLC0415 (only the worker has it)

    return int(tiny.double(n))


def test_what_is_required_is_installed_once(site: Weft, tmp_path: Path) -> None:
    """For 50 jobs of a batch, and for none of the next ones, which need no index."""
    file = tmp_path / "requirements.txt"
    file.write_text("# of the job\ntiny == 1.0  # small\n")
    jobs = [{"command": ["tiny"], "count": 50}, {"function": {"call": "tiny:double", "args": [4]}}]
    document = {"defaults": {"requirements": file.name}, "jobs": jobs}
    (tmp_path / "jobs.json").write_text(json.dumps(document))
    batch = site.told("submit", str(tmp_path / "jobs.json"), "--wait").decode().split()[0]
    assert {site.told("logs", f"{batch}.j{n}") for n in (1, 50)} == {b"tiny\n"}
    Index.is_open.clear()
    options = ("--requirements", str(file), "--")
    said = site.told("run", *options, "sh", "-c", "tiny; command -v python").decode().split()
    assert (said[0], said[1].endswith("/env/bin/python")) == ("tiny", True)
    assert site.run("each", *options, "tiny", stdin=b"a\n").stdout == b"tiny\n"
    with Executor(home=site.home, requirements=file) as executor:
        assert list(executor.map(double, range(3))) == [0, 2, 4]
    Index.is_open.set()
    assert count(site, "made") == 1


def test_what_cannot_be_installed_is_said(site: Weft, tmp_path: Path) -> None:
    """For all jobs, and tried once. A lock of uv travels if uv reads it."""
    file = tmp_path / "r.txt"
    file.write_text("nothere==3\n")
    jobs = {"jobs": [{"command": ["true"], "count": 20, "requirements": {"file": str(file)}}]}
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    batch = site.run("submit", str(tmp_path / "jobs.json"), "--wait").stdout.decode().split()[0]
    why = [site.told("why", f"{batch}.j{n}") for n in (1, 20)]
    assert all(b"cannot be installed" in said and b"nothere" in said for said in why)
    assert count(site, "failed") == 1
    other = site.run("run", "--requirements", str(file), "--python", "3.99", "--", "true")
    assert b"its worker has no Python 3.99; it has 3." in other.stderr
    project = '[project]\nname = "own"\nversion = "1"\ndependencies = ["tiny"]\n'
    (tmp_path / "pyproject.toml").write_text(f'{project}requires-python = ">=3.11"\n')
    index = (site.home / "weft.toml").read_text().split('"')[1]
    lock = ("uv", "lock", "--no-cache", "--default-index", index)
    subprocess.run(lock, cwd=tmp_path, env={**os.environ, **WITH_UV}, check=True)
    line = ("run", "--requirements", str(tmp_path / "uv.lock"), "--", "tiny")
    assert site.told(*line, env=WITH_UV) == b"tiny\n"
    assert b"the program uv" in site.run(*line, env={"PATH": "/nowhere"}).stderr


def test_option_takes_the_place_of_what_a_file_has(site: Weft, tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("tiny>0\n")
    (tmp_path / "other.txt").write_text("nothere>4\n")
    usual = {"requirements": {"file": "other.txt", "python": OWN}}
    jobs = [{"command": ["tiny"], "requirements": {"python": OWN}}, {"command": ["tiny"]}]
    (tmp_path / "jobs.json").write_text(json.dumps({"defaults": usual, "jobs": jobs}))
    line = ("submit", str(tmp_path / "jobs.json"), "--wait")
    site.told(*line, "--requirements", str(tmp_path / "r.txt"))
    assert site.run(*line, "--python", "3.99").returncode == 1
    refused = site.run("run", "--python", OWN, "--", "true")
    assert (refused.returncode, b"--requirements" in refused.stderr) == (2, True)
    assert b"than 1048576 bytes" in site.run("run", "--requirements", "/dev/zero", "true").stderr


def test_lines_that_lead_elsewhere_are_refused(site: Weft, tmp_path: Path) -> None:
    """By the client, and by the worker for who speaks to the api without it."""
    file, known = tmp_path / "r.txt", json.loads((site.home / "client.json").read_text())
    headers = {"authorization": f"Bearer {known['token']}"}
    with httpx.Client(base_url=known["url"], headers=headers, timeout=30) as http:
        name = f"b{http.post('/v1/batches', json={}).json()['id']}"
        for line in LEAD_ELSEWHERE:
            file.write_text(f"tiny\n{line}\n")
            refused = site.run("run", "--requirements", str(file), "--", "true")
            assert (refused.returncode, b"Line 2, " in refused.stderr) == (2, True), line
            at, body = f"/v1/batches/{name[1:]}", file.read_bytes()
            digest = hashlib.sha256(body).hexdigest()
            jobs = {"jobs": [{"command": ["true"], "requirements": {"digest": digest}}]}
            assert http.post(f"{at}/updates", json=jobs).status_code == 400  # it is not there
            http.put(f"{at}/payloads/{digest}/1?bytes={len(body)}", content=body)
            assert http.post(f"{at}/updates", json=jobs).is_success
        # Bytes of another digest fail for their own batch alone.
        other = f"b{http.post('/v1/batches', json={}).json()['id']}"
        digest, at = hashlib.sha256(b"tiny>=0.7\n").hexdigest(), f"/v1/batches/{other[1:]}"
        jobs = {"jobs": [{"command": ["true"], "requirements": {"digest": digest}}]}
        http.put(f"{at}/payloads/{digest}/1?bytes=5", content=b"other")
        assert http.post(f"{at}/updates", json=jobs).is_success
    site.run("wait", other)
    assert b"not as announced" in site.told("why", f"{other}.j1")
    file.write_text("tiny>=0.7\n")
    assert site.told("run", "--requirements", str(file), "--", "tiny") == b"tiny\n"
    site.run("wait", name)
    said = [site.told("why", f"{name}.j{n}") for n, _ in enumerate(LEAD_ELSEWHERE, 1)]
    assert all(b"cannot be installed: line 2, " in why for why in said)


def test_installation_that_is_killed_begins_anew(site: Weft, tmp_path: Path) -> None:
    """The one of a killed agent goes on, and that of the next agent waits for it."""
    with delay(site, tmp_path, "tiny>=1.0\n") as (_, first):
        asked, agent = Index.asked, json.loads((site.home / "run" / "worker.ready").read_text())
        os.kill(agent["pid"], signal.SIGKILL)
        until(lambda: len(installers(site)) > 1 and "-> FLOCK" in Path("/proc/locks").read_text())
        assert Index.asked == asked
        os.killpg(first, signal.SIGKILL)


def test_installation_ends_with_the_last_job_that_waits_for_it(site: Weft, tmp_path: Path) -> None:
    """The next job begins it anew, when its programs have let go of the lock."""
    with delay(site, tmp_path, "tiny>=0.3\n", jobs=2) as (names, first):
        until(lambda: b"installs its" in site.told("why", names[1]))
        site.told("cancel", names[0])
        site.run("wait", names[0])
        assert count(site, "stopped") == 0
        site.told("cancel", names[1])
        with delay(site, tmp_path, "tiny>=0.3\n") as (again, other):
            until(lambda: installers(site) == [other] != [first] and count(site, "stopped") == 1)
        names.extend(again)


@pytest.mark.parametrize("name", ["timeout", "sh", "uv"])
def test_one_program_of_an_installation_is_killed(site: Weft, tmp_path: Path, name: str) -> None:
    with delay(site, tmp_path, f"tiny != 0.{name.encode()[0]}\n") as (_, group):
        subprocess.run(("pkill", "-KILL", "-g", str(group), "-x", name), check=True)


def test_text_that_goes_on_and_on_is_read_at_once() -> None:
    begun = time.process_time()
    assert plain_requirements(b"\\\n" * (BYTES_MAX // 2)) == b"\n"
    assert time.process_time() - begun < 8


def test_what_somebody_begins_to_use_is_not_removed(tmp_path: Path) -> None:
    """In the moment between the look and the removal."""
    for name in ("begun", "old"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1, 1))
    assert [
        *free_some(
            tmp_path,
            lambda at: (at.stat().st_mtime, 10),
            0,
            lambda at: at.name == "begun" and (at / "used").write_bytes(b"") > 0,
        )
    ] == [("old", 10)]
    assert [one.name for one in tmp_path.iterdir()] == ["begun"]


@pytest.mark.heavy
def test_pip_installs_where_there_is_no_uv(tmp_path: Path) -> None:
    """And what is there is not installed again."""
    wheel, folder = write_wheel(tmp_path), tmp_path / "made"
    limits = INSTALLER.with_name("install_limits.py"), "1000000000", "10000", "1000000000"
    command = ("/bin/sh", INSTALLER, folder, OWN, sys.executable, "5", *limits)
    env = {"PATH": "/usr/bin:/bin", "INDEX": str(tmp_path)}
    half = subprocess.run(command, env=env, input=b"tin", check=False)  # who sends it was killed
    assert (half.returncode, [*folder.iterdir()]) == (1, [])
    for _ in range(2):
        subprocess.run(command, env=env, input=b"tiny\n", check=True)
        wheel.unlink(missing_ok=True)
    assert subprocess.check_output([folder / "env/bin/tiny"]) == b"tiny\n"
