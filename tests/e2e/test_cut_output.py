"""Output of which the middle is not kept: nobody passes it on in silence."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft, weft_up
from weft import Client

WRITES = ("sh", "-c", "head -c 9000 /dev/zero | tr '\\0' x; sleep {}")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """Give a weft whose worker keeps 4 KiB of each stream."""
    home = tmp_path_factory.mktemp("home")
    (home / "weft.toml").write_text('stream_bytes_max = "4KiB"\nstream_head_bytes = "1KiB"\n')
    with weft_up(home) as own:
        yield own


@pytest.mark.heavy
def test_each_and_run_fail_unless_cutting_is_fine(small: Weft, tmp_path: Path) -> None:
    each = small.run("each", "--results", str(tmp_path), "--", *WRITES, ":::", "0")
    allowed = small.run("each", "--allow-cut", "--json", "--", *WRITES, ":::", "0")
    run = small.run("run", "--json", "--", "sh", "-c", "seq 5000")
    fine = small.run("run", "--allow-cut", "--", "sh", "-c", "seq 5000")

    assert len(each.stdout) == 4096
    assert each.returncode == 1
    assert b"b1.j1: the middle of its output was left out" in each.stderr
    assert b"1 succeeded, 1 with output that was cut" in each.stderr
    assert b"--allow-cut" in each.stderr
    assert allowed.returncode == 0
    assert json.loads(allowed.stdout)["truncated"]
    assert json.loads(allowed.stderr.splitlines()[-1])["n_cut"] == 1
    assert run.returncode == 1
    assert b"KiB of stdout were left out" in run.stderr
    assert json.loads(run.stdout)["truncated"]
    assert fine.returncode == 0


@pytest.mark.heavy
def test_run_passes_on_all_of_what_it_follows(small: Weft) -> None:
    slow = "for n in 1 2 3; do head -c 3000 /dev/zero | tr '\\0' x; sleep 0.7; done"
    run = small.run("run", "--", "sh", "-c", slow)

    assert len(run.stdout) == 9000
    assert run.returncode == 0


def test_lists_of_outputs_and_python_say_what_is_cut(small: Weft) -> None:
    submitted = small.run("run", "--detach", "--", "sh", "-c", "seq 5000")
    job = submitted.stdout.decode().strip()
    batch = job.partition(".")[0]
    small.run("wait", batch)

    assert (
        f"{job}: the middle of its output was left out".encode() in small.run("logs", batch).stderr
    )
    assert b"left out" in small.run("logs", batch, "-f").stderr
    assert b"KiB of stdout were left out" in small.run("logs", job).stderr
    as_json = small.run("logs", job, "--json")
    assert as_json.stderr.count(b"left out") == 1
    with Client(home=small.home) as client, pytest.warns(UserWarning, match="left out"):
        assert len(client.get_batch(int(batch[1:])).get_job(1).log()) == 4096
