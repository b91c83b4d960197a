"""Look-ups in processes of their own: a bad one harms nobody else."""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from weft.core.lines.lookup import Answered, Question
from weft.ports.lookup import ANSWER_BYTES_MAX
from weft.run.asked import look_ups as module
from weft.run.asked.look_ups import LookUps
from weft.settings import Settings

pytestmark = pytest.mark.slow
CODE = """
import os, signal, time
from weft.ports.lookup import LookUpAway

class Says:
    def look_up(self, options, site):
        what = options["what"]
        if what == "away":
            with open(options["file"], "a") as file:
                file.write("asked ")
            raise LookUpAway("it is closed")
        if what == "hang":
            signal.pause()
        if what == "raise":
            raise OSError("out of order")
        if what == "much":
            return "x" * 1_000_000
        if what == "pid":
            return {"pid": os.getpid(), "at": time.monotonic_ns()}
        return sorted(os.environ)

class Broken:
    def __init__(self):
        raise RuntimeError("no licence")
"""


@pytest.fixture
async def asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LookUps]:
    """Give the api's side, with a package of look-ups."""
    (tmp_path / "some_look_ups.py").write_text(CODE)
    info = tmp_path / "some_look_ups-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-look-ups\nVersion: 1\n")
    entries = "says = some_look_ups:Says\nbroken = some_look_ups:Broken"
    (info / "entry_points.txt").write_text(f"[weft.lookups]\n{entries}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MY_SECRET", "x")
    one = LookUps(Settings())
    yield one
    await one.close()


async def test_plug_in_of_the_guide_asks_a_database(asks: LookUps, tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs/guides/production-lines.md"
    (code,) = re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.MULTILINE | re.DOTALL)
    assert len(code.splitlines()) <= 30
    (tmp_path / "site_look_ups.py").write_text(code)
    entries = tmp_path / "some_look_ups-1.dist-info" / "entry_points.txt"
    entries.write_text(entries.read_text() + "orbits = site_look_ups:Orbits\n")
    with closing(sqlite3.connect(tmp_path / "orbits.db")) as database:
        database.execute("CREATE TABLE orbit (name, begins, ends)")
        database.execute("INSERT INTO orbit VALUES ('R065', '2027-04-13', '2027-04-14')")
        database.commit()

    def about(name: str, file: str) -> Question:
        return Question("orbit", "orbits", json.dumps({"file": file, "name": name}), 0)

    known, unknown, other = (
        about("R065", str(tmp_path / "orbits.db")),
        about("R066", str(tmp_path / "orbits.db")),
        about("R065", "/etc/passwd"),
    )
    found = await asks.ask(1, [known, unknown, other])
    assert found[known].value == {"begins": "2027-04-13", "ends": "2027-04-14"}
    assert (found[unknown].value, found[unknown].away) == (None, None)
    assert found[other].away == "/etc/passwd is not read here"


def question(name: str, what: str, cache_s: float = 0, **more: object) -> Question:
    plugin = name if name == "broken" else "says"
    return Question(name, plugin, json.dumps({"what": what, **more}), cache_s)


async def test_each_question_has_its_own_answer(asks: LookUps) -> None:
    asked = {
        "env": question("a", "env"), "raise": question("b", "raise"),
        "much": question("c", "much"), "broken": question("broken", "pid"),
    }  # fmt: skip
    found = await asks.ask(1, [*asked.values()])
    known = {"LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH", "TZ"}
    assert set(found[asked["env"]].value) <= known
    assert found[asked["raise"]].away == "OSError: out of order"
    assert found[asked["much"]].away == f"the answer has more than {ANSWER_BYTES_MAX >> 10} KiB"
    assert found[asked["broken"]].away == "it cannot be loaded: no licence"


async def test_look_up_that_is_away_is_not_asked_again(asks: LookUps, tmp_path: Path) -> None:
    file = tmp_path / "asked"
    many = [question("a", "away", file=str(file), n=n) for n in range(100)]
    found = await asks.ask(1, many)
    assert {one.away for one in found.values()} == {"it is closed"}
    assert len(file.read_text().split()) <= module.AT_ONCE


async def test_one_that_hangs_is_killed_and_started_again(
    asks: LookUps, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = question("a", "pid")
    before = (await asks.ask(1, [first]))[first].value["pid"]
    usual_s = asks._answer_s
    monkeypatch.setattr(asks, "_answer_s", 0.2)
    hangs = question("b", "hang")
    away = (await asks.ask(1, [hangs]))[hangs]
    monkeypatch.setattr(asks, "_answer_s", usual_s)
    assert away == Answered(away=f"it did not answer within {module.ANSWER_S:g} s")
    await asyncio.gather(*(one.ended for one in asks._all if one.is_retired))
    assert (await asks.ask(1, [first]))[first].value["pid"] != before


async def test_answers_are_remembered_as_long_as_is_said(asks: LookUps) -> None:
    kept, fresh = question("a", "pid", 600), question("b", "pid")
    first = await asks.ask(1, [kept, fresh])
    again = await asks.ask(1, [kept, fresh])
    other = await asks.ask(2, [kept])
    assert first[kept] == again[kept]
    assert first[fresh] != again[fresh]
    assert other[kept] != first[kept]
