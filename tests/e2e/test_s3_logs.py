"""Output of jobs is shipped to a bucket and read from there, on a real server of S3."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, until, weft_up
from e2e.s3_server import Buckets, s3_server
from e2e.test_workers_outside import Outside, submit

pytestmark = pytest.mark.engine(name="s3")

CANARY = "canary-of-the-environment"
OPENS = {"AWS_ACCESS_KEY_ID": "AKIAENVIRONMENT", "AWS_SECRET_ACCESS_KEY": CANARY}
WITHIN_S = 10.0
buckets = fixture_of(lambda: s3_server("logs"), "module")


@pytest.fixture(scope="module")
def weft(buckets: Buckets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """Give a weft that ships to the bucket."""
    settings = {
        "WEFT_LOG_BUCKET": "s3://logs/of-weft",
        "WEFT_LOG_BUCKET_ENDPOINT": buckets.url,
        "WEFT_STORE_BUCKETS": "logs",
        "WEFT_SPOOL_LOOK_S": "1",
    }
    with weft_up(tmp_path_factory.mktemp("home"), **settings, **OPENS) as found:
        yield found


def lose(weft: Weft) -> None:
    """Take away all output that is on this machine, as if it were another one's."""
    (weft.home / "logs").rename(weft.home / f"lost-{os.urandom(4).hex()}")
    (weft.home / "logs").mkdir()


def is_in(buckets: Buckets, text: bytes) -> bool:
    listed = buckets.ask("GET", "logs?list-type=2&prefix=of-weft/").decode()
    names = [part.partition("</Key>")[0] for part in listed.split("<Key>")[1:]]
    for name in names:
        with suppress(HTTPError):  # weft has removed it meanwhile
            if text in buckets.ask("GET", f"logs/{name}"):
                return True
    return False


def test_the_log_of_a_running_job_is_in_the_bucket_and_outlives_the_machine(
    weft: Weft, buckets: Buckets, tmp_path: Path
) -> None:
    """Also that of short jobs; once it is deleted, nothing holds it."""
    script = f"echo begun-1; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo ended-1"
    jobs = [{"script": script}, {"script": "echo short-1"}]
    batch = weft.submit(*jobs)
    began = time.monotonic()
    until(lambda: is_in(buckets, b"begun-1"))
    assert time.monotonic() - began < WITHIN_S + 5  # the job has to start, too
    (tmp_path / "go").touch()
    weft.told("wait", batch)
    until(lambda: is_in(buckets, b"ended-1") and is_in(buckets, b"short-1"))
    lose(weft)

    assert weft.told("logs", f"{batch}.j1") == b"begun-1\nended-1\n"
    assert weft.told("logs", f"{batch}.j2") == b"short-1\n"
    assert weft.told("logs", "-f", f"{batch}.j1") == b"begun-1\nended-1\n"

    weft.told("delete", batch, "--yes")
    assert b"does not exist" in weft.run("logs", f"{batch}.j1").stderr
    until(lambda: not is_in(buckets, b"begun-1"))
    until(lambda: not list(weft.home.glob("log-copies/*/*/attempts/b*")))
    assert not is_in(buckets, b"short-1")
    assert not [
        path
        for path in weft.home.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    ]


def test_output_of_a_worker_outside_is_shipped_by_the_api(
    weft: Weft, buckets: Buckets, tmp_path: Path
) -> None:
    """The worker needs no key and no setting for it."""
    outside = Outside(weft, tmp_path)
    with outside.running():
        batch = submit(weft, tmp_path, [{"script": "echo short-2"}, {"script": "sleep 0.5; id"}])
        weft.told("wait", batch)
    until(lambda: is_in(buckets, b"short-2") and is_in(buckets, b"uid="))
    lose(weft)
    shutil.rmtree(outside.home)

    assert weft.told("logs", f"{batch}.j1") == b"short-2\n"
    assert weft.told("logs", f"{batch}.j2").startswith(b"uid=")
