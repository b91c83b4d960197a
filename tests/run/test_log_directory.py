"""Where a worker keeps output, how its files are named, and what it does about a database that
is away.
"""

import asyncio
from pathlib import Path

import pytest

from weft.core.errors import Unavailable
from weft.run.home import Home
from weft.run.host.worker_name import file_name_of
from weft.run.log_stores import DatabaseReplaced, find_log_directory, until_replaced
from weft.settings import load_settings

DSN = "postgresql://weft_worker:secret@db.example/weft"
WITHIN_S = 60


class Database:
    """A store that says which database it is, after some outages."""

    def __init__(self, database_id: str, outages: int = 0) -> None:
        self._id = database_id
        self._outages = outages

    async def database_id(self) -> str:
        if self._outages > 0:
            self._outages -= 1
            raise Unavailable("the database is away")
        return self._id


@pytest.fixture
def home(tmp_path: Path) -> Home:
    result = Home(tmp_path / "home")
    result.prepare()
    return result


async def test_each_database_has_its_directory(home: Home) -> None:
    one = await find_log_directory(home, Database("a1"), DSN)
    other = await find_log_directory(home, Database("b2"), f"{DSN}2")

    assert (one, other) == (home.logs / "a1", home.logs / "b2")
    assert "secret" not in (home.logs / "databases.json").read_text()


async def test_database_that_is_away_is_the_last_one_at_its_address(home: Home) -> None:
    await find_log_directory(home, Database("a1"), DSN)
    async with asyncio.timeout(WITHIN_S):
        assert await find_log_directory(home, Database("", outages=1), DSN) == home.logs / "a1"
        # Nothing is known of another one: wait.
        found = await find_log_directory(home, Database("b2", outages=2), f"{DSN}2")

    assert found == home.logs / "b2"


async def test_worker_ends_if_another_database_answers(home: Home) -> None:
    logs = await find_log_directory(home, Database("a1"), DSN)
    async with asyncio.timeout(WITHIN_S):
        with pytest.raises(DatabaseReplaced, match="another database answers"):
            await until_replaced(Database("b2", outages=1), logs)
    same = asyncio.create_task(until_replaced(Database("a1"), logs))
    await asyncio.sleep(0)

    assert not same.done()
    same.cancel()


def file_name(name: str) -> str:
    return file_name_of(load_settings({"worker_name": name}))


def test_usual_names_are_kept() -> None:
    assert file_name("gpu-7.example_1") == "gpu-7.example_1"


def test_workers_of_different_names_have_different_files() -> None:
    """Otherwise one would adopt the spawner and the jobs of the other."""
    names = ("a b", "a/b", "a_b", "a:b")

    assert len({file_name(name) for name in names}) == len(names)
    assert not any(set("/: ") & set(file_name(name)) for name in names)
