"""Jobs of a user with several groups, without root: they keep them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from up.weft_up import DEADLINE_S, WEFT, temporary_home

SETPRIV = shutil.which("setpriv")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        os.geteuid() != 0 or SETPRIV is None, reason="only root can be another user"
    ),
]

USER, GROUP, OTHER = 1, 1, 54322
"""`daemon`, who is everywhere: PostgreSQL starts for users with a name only."""
COPY = "touch a && chgrp 54322 a && cp -a a b && stat -c %g a b"
"""What people, `cp -a` and `rsync -a` do with the group of a file."""


def as_user(*words: str, groups: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run weft as a user without root, who may only read what is root's: the installation."""
    return subprocess.run(
        [
            str(SETPRIV),
            f"--reuid={USER}",
            f"--regid={GROUP}",
            f"--groups={groups}",
            "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search",
            "--",
            WEFT,
            *words,
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environ},
    )


@pytest.fixture
def home() -> Iterator[Path]:
    with temporary_home() as home:
        home.mkdir()
        os.chown(home, USER, GROUP)
        home.parent.chmod(0o755)
        yield home
        as_user("down", "--home", str(home), groups=str(GROUP))


def findings(home: Path, groups: str, **environ: str) -> dict[str, dict[str, str]]:
    done = as_user("doctor", "--json", "--home", str(home), groups=groups, **environ)
    return {one["check"]: one for one in json.loads(done.stdout)}


def test_job_keeps_the_groups_of_its_user(home: Path) -> None:
    groups = f"{GROUP},{OTHER}"
    started = as_user("up", "-d", "--home", str(home), "--port", "0", groups=groups)
    assert started.returncode == 0, started.stderr
    (home / "work").mkdir()
    os.chown(home / "work", USER, GROUP)
    command = ("cd", str(home / "work"), "&&", COPY)
    done = as_user("run", "--home", str(home), "--", "sh", "-c", " ".join(command), groups=groups)

    assert (done.returncode, done.stdout.split(), done.stderr) == (
        0,
        [str(OTHER), str(OTHER)],
        "",
    )


def test_doctor_says_what_jobs_get_and_why(home: Path) -> None:
    one = findings(home, str(GROUP))["namespaces"]
    two = findings(home, f"{GROUP},{OTHER}")["namespaces"]
    never = findings(home, str(GROUP), WEFT_JOB_NAMESPACE="never")["namespaces"]

    assert two["verdict"] == never["verdict"] == "off"
    assert f"keep your other groups ({OTHER})" in two["found"]
    assert "job_namespace = always" in two["advice"]
    assert "`never`" in never["found"]
    if one["verdict"] == "ok":  # the kernel permits it
        always = findings(home, f"{GROUP},{OTHER}", WEFT_JOB_NAMESPACE="always")["namespaces"]
        assert "cannot outlive" in one["found"]
        assert one == always


def test_namespace_that_must_be_and_cannot_is_refused(home: Path, tmp_path: Path) -> None:
    found = findings(home, str(GROUP), WEFT_JOB_NAMESPACE="always", PATH=str(tmp_path))

    assert found["namespaces"]["verdict"] == "wrong"
    assert "`unshare` is missing" in found["namespaces"]["found"]
