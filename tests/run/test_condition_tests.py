"""Testers in processes of their own: what owners of jobs are told about a bad one."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from plugins.package import install
from weft.core.ends import conditions
from weft.run.isolated.asking.messages import ConditionTests
from weft.settings import Settings

pytestmark = pytest.mark.slow
BAD = """
import os
from weft.core.ends.conditions import Tested

class Tester:
    parameters, optional = (), ("how",)
    def test(self, parameters, site):
        if (how := parameters["how"]) == "dies":
            os.abort()
        if how == "raises":
            raise OSError("out of order")
        return None if how == "nonsense" else Tested(False, "y" * 1_000_000)

class Broken(Tester):
    def __init__(self):
        raise RuntimeError("no licence")
"""
TOLD = {
    "talks": "y" * conditions.MESSAGE_CHARS_MAX,
    "raises": "OSError: out of order",
    "nonsense": "AttributeError: 'NoneType' object has no attribute 'passed'",
}


async def test_owners_are_told_what_is_wrong_with_a_tester(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad_testers.py").write_text(BAD)
    install(tmp_path, monkeypatch, testers="bad=bad_testers:Tester\nbroken=bad_testers:Broken")
    tests = ConditionTests(Settings(tester_timeout_s=0.5))

    async def told(tester: str, how: str) -> conditions.Tested | None:
        due = SimpleNamespace(condition_id=1, tester=tester, parameters={"how": how})
        return await tests.test(due)

    magic = await told("magic", "")
    assert tests.pool.pids == []  # a made-up name costs no process
    found = await asyncio.gather(*(told("bad", how) for how in TOLD))
    assert found == [conditions.Tested(passed=False, message=text) for text in TOLD.values()]
    assert [magic, await told("broken", ""), await told("bad", "dies")] == [
        conditions.Tested(passed=False, message="there is no tester 'magic'"),
        conditions.Tested(passed=False, message="no licence"),
        None,
    ]
    await tests.close()
