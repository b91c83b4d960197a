"""Output on disk: apart for each database of a home, and gone with its batch."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from up.external_server import INSTALLED, external_server
from up.weft_up import Up, run_weft, up

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(240)]

LONG = 'i=0; while [ $i -lt 9000 ]; do echo "$0 line $i"; i=$((i+1)); done'
"""Long enough for a file of its own."""


def run(home: Path, name: str) -> str:
    """Run a job with a long output; return the name of its batch."""
    done = run_weft("run", "--json", "--home", str(home), "--", "sh", "-c", LONG, name)
    assert done.returncode == 0, done.stderr
    return f"b{json.loads(done.stdout)['batch_id']}"


def first_line(home: Path, batch: str) -> str:
    return run_weft("logs", f"{batch}.j1", "--home", str(home)).stdout.partition("\n")[0]


def directories(home: Path) -> Sequence[str]:
    """Return the directories of batches, below those of databases."""
    return sorted(path.name for path in home.glob("logs/*/attempts/*"))


def delete(home: Path, batch: str) -> None:
    done = run_weft("delete", batch, "--yes", "--home", str(home))
    assert done.returncode == 0, done.stderr


def finish(server: Up) -> None:
    run_weft("down", "--home", str(server.home))
    server.finish()


def test_files_of_a_deleted_batch_go(home: Path) -> None:
    with up(home) as server:
        server.until_ready()
        gone, kept = run(home, "gone"), run(home, "kept")
        assert directories(home) == sorted([gone, kept])
        delete(home, gone)
        said = server.until("logs.removed")

        assert (said["batches"], f"b{said['first']}") == (1, gone)
        assert directories(home) == [kept]
        assert first_line(home, kept) == "kept line 0"


def test_worker_that_was_away_removes_files_when_it_is_back(home: Path) -> None:
    with up(home) as server:
        server.until_ready()
        batch = run(home, "gone")
        (place,) = home.glob("logs/*/attempts/*")
        copy = home / "copy"
        place.rename(copy)
        delete(home, batch)
        finish(server)
        copy.rename(place)  # as if the worker had been away
        server.close()
    with up(home) as server:
        server.until("logs.removed")

        assert directories(home) == []


@pytest.fixture(scope="module", params=INSTALLED[:1], ids=lambda path: path.parts[-3])
def dsn(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give another database."""
    with external_server(request.param) as server:
        yield server.dsn()


def test_databases_of_one_home_do_not_share_files(home: Path, dsn: str) -> None:
    """The first batch of each has the same number."""
    with up(home, "--database", dsn) as server:
        server.until_ready()
        batch = run(home, "external")
        finish(server)
    with up(home) as server:
        server.until_ready()
        assert run(home, "embedded") == batch
        assert first_line(home, batch) == "embedded line 0"
        assert directories(home) == [batch, batch]
        delete(home, batch)
        server.until("logs.removed")

        assert directories(home) == [batch]


def test_output_of_an_earlier_release_stays_readable(home: Path) -> None:
    """It kept the output of all databases in one directory, with a name of its own."""
    with up(home) as server:
        server.until_ready()
        batch = run(home, "earlier")
        (directory,) = (path.parent for path in home.glob("logs/*/place"))
        finish(server)
    for path in directory.iterdir():
        path.rename(home / "logs" / path.name)
    with up(home) as server:
        server.until_ready()

        assert first_line(home, batch) == "earlier line 0"
