"""Look-ups in processes of their own: a bad one harms nobody else."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from plugins.package import install
from weft.ports.lookup import ANSWER_BYTES_MAX, Answered, Question
from weft.run.isolated.asking import lookups as module
from weft.run.isolated.asking.lookups import LookUps
from weft.settings import Settings

pytestmark = pytest.mark.slow
CODE = """
import time
from weft.ports.lookup import LookUpAway

class Says:
    def look_up(self, options, site):
        if (what := options["what"]) == "away":
            with open(options["file"], "a") as file:
                file.write("asked ")
            raise LookUpAway("it is closed")
        if what == "raise":
            raise OSError("out of order")
        if what == "memory":
            return bytearray(8 << 30)
        if what == "much":
            return "x" * 1_000_000
        return time.monotonic_ns()

class Broken:
    def __init__(self):
        raise RuntimeError("no licence")
"""


@pytest.fixture
async def asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LookUps]:
    """Give the api's side, with a package of look-ups."""
    (tmp_path / "some_look_ups.py").write_text(CODE)
    names = {
        "says": "some_look_ups:Says",
        "broken": "some_look_ups:Broken",
        "orbits": "site_look_ups:Orbits",
    }
    install(tmp_path, monkeypatch, lookups="\n".join(map("=".join, names.items())))
    one = LookUps(Settings())
    yield one
    await one.close()


async def test_plug_in_of_the_guide_asks_a_database(asks: LookUps, tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs/guides/production-lines.md"
    (code,) = re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.MULTILINE | re.DOTALL)
    assert len(code.splitlines()) <= 30
    (tmp_path / "site_look_ups.py").write_text(code)
    with closing(sqlite3.connect(tmp_path / "orbits.db")) as database:
        database.execute("CREATE TABLE orbit (name, begins, ends)")
        database.execute("INSERT INTO orbit VALUES ('R065', '2027-04-13', '2027-04-14')")
        database.commit()

    file = str(tmp_path / "orbits.db")
    asked = [
        Question("orbit", "orbits", json.dumps({"file": file, "name": name}), 0)
        for file, name in ((file, "R065"), (file, "R066"), ("/etc/passwd", "R065"))
    ]
    answers = await asks.ask(1, asked)
    assert [answers[question] for question in asked] == [
        Answered({"begins": "2027-04-13", "ends": "2027-04-14"}),
        Answered(),
        Answered(away="/etc/passwd is not read here", alone=True),
    ]


def question(name: str, what: str, cache_s: float = 0, **more: object) -> Question:
    plugin = name if name == "broken" else "says"
    return Question(name, plugin, json.dumps({"what": what, **more}), cache_s)


async def test_each_question_has_its_own_answer(asks: LookUps) -> None:
    asked = [
        question("b", "raise"),
        question("c", "much"),
        question("broken", "time"),
        question("d", "memory"),
    ]
    found = await asks.ask(1, asked)
    assert [found[one].away for one in asked] == [
        "OSError: out of order",
        f"the answer has more than {ANSWER_BYTES_MAX >> 10} KiB",
        "it cannot be loaded: no licence",
        "it takes too much memory",
    ]


async def test_look_up_that_is_away_is_not_asked_again(asks: LookUps, tmp_path: Path) -> None:
    file = tmp_path / "asked"
    found = await asks.ask(1, [question("a", "away", file=str(file), n=n) for n in range(100)])
    assert {one.away for one in found.values()} == {"it is closed"}
    assert len(file.read_text().split()) <= module.AT_ONCE


async def test_answers_are_remembered_as_long_as_is_said(asks: LookUps) -> None:
    kept, fresh = question("a", "time", 600), question("b", "time")
    first = await asks.ask(1, [kept, fresh])
    again = await asks.ask(1, [kept, fresh])
    other = await asks.ask(2, [kept])
    assert first[kept] == again[kept]
    assert first[fresh] != again[fresh]
    assert other[kept] != first[kept]
    assert len(asks.pool.pids) == 2  # a tenant's servers end no process of another's
