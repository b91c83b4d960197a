"""A worker outside of the release before on the present api, and the reverse: real programs."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest

from release.previous_release import PRESENT, ROOT, Release, install_previous
from release.test_side_by_side import PREPARE, TOKEN, Api, until

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

FORMS = ("src/weft/ports/worker_link.py", "src/weft/ports/store/worker.py")
"""The calls of the link follow from these."""


@pytest.fixture(scope="module")
def before() -> Iterator[Release]:
    """Give weft as it was before the link's calls last changed, installed."""
    done = subprocess.run(
        ["git", "log", "-1", "--format=%H~1", "--", *FORMS],
        check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    commit = done.stdout.strip() or pytest.skip("this is no clone with a history")
    base = Path(mkdtemp(prefix="weft-before-"))
    try:
        yield install_previous(base, commit)
    finally:
        rmtree(base, ignore_errors=True)


@pytest.mark.parametrize("old", ["worker", "api"])
def test_output_comes_by_the_link_between_releases(
    before: Release, empty_database: dict[str, str], tmp_path: Path, old: str
) -> None:
    api_of, worker_of = (before, PRESENT) if old == "api" else (PRESENT, before)
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    done = api_of.run("-c", PREPARE, str(home), json.dumps(empty_database), TOKEN, home=home)
    assert done.returncode == 0, done.stderr
    with api_of.role("api", home), api_of.role("driver", home):
        api = Api(home)
        terms = {"name": "out", "scopes": ["work"], "pool": "default"}
        file = outside / "token"
        file.touch(0o600)
        file.write_text(api.ask("/tokens", terms)["token"])
        link = {"WEFT_CONNECT": api.url.removesuffix("/v1"), "WEFT_TOKEN_FILE": str(file)}
        with worker_of.role("worker", outside, **link):
            job = {"command": ["/bin/sh", "-c", "echo came by the link; exit 3"]}
            batch = api.ask("/batches", {"jobs": [job]})["id"]
            document = until(
                lambda: found if (found := api.ask(f"/batches/{batch}"))["complete"] else None,
                f"it did not run: {_end_of(outside)} {_end_of(home)}",
            )
            (attempt,) = api.ask(f"/batches/{batch}/jobs/1/attempts")["items"]
            log = api.read(f"/batches/{batch}/jobs/1/log")
    assert (document["n_failed"], attempt["exit_code"]) == (1, 3)
    assert b"came by the link" in log


def _end_of(home: Path) -> str:
    return "".join(log.read_text()[-1000:] for log in home.glob("*.log"))
