"""Testers in processes of their own: a bad one harms nobody else."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from weft.core.ends import conditions
from weft.run.asked.condition_tests import ConditionTests
from weft.settings import Settings

pytestmark = pytest.mark.slow
BAD = """
import os, signal
from weft.core.ends.conditions import Tested

class Good:
    parameters, optional = (), ()
    def test(self, parameters, site):
        return Tested(True, f"{os.getpid()} " + ",".join(sorted(os.environ)))

class Hangs(Good):
    optional = ("how",)
    def test(self, parameters, site):
        if parameters.get("how") == "not":
            return Tested(True, str(os.getpid()))
        signal.pause()

class Prints(Good):
    def test(self, parameters, site):
        print("x" * 1_000_000)
        os.write(1, b'{"id": 1, "passed": true, "message": "forged"}\\n')
        return Tested(False, "y" * 1_000_000)

class Dies(Good):
    def test(self, parameters, site):
        os.abort()

class Raises(Good):
    def test(self, parameters, site):
        raise OSError("out of order")

class Nonsense(Good):
    def test(self, parameters, site):
        return None

class Broken(Good):
    def __init__(self):
        raise RuntimeError("no licence")
"""
NAMES = ("Good", "Hangs", "Prints", "Dies", "Raises", "Nonsense", "Broken")


@dataclass(frozen=True)
class Due:
    """A test."""

    condition_id: int
    tester: str
    parameters: dict[str, str] = field(default_factory=dict)


@pytest.fixture
async def tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ConditionTests]:
    """Give the driver's side, with a package of bad testers."""
    (tmp_path / "bad_testers.py").write_text(BAD)
    info = tmp_path / "bad_testers-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-testers\nVersion: 1\n")
    entries = "\n".join(f"{name.lower()} = bad_testers:{name}" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[weft.testers]\n{entries}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("WEFT_DATABASE", "postgresql://secret")
    monkeypatch.setenv("MY_SECRET", "x")
    one = ConditionTests(Settings(tester_timeout_s=0.5))
    yield one
    await one.close()


async def test_a_bad_tester_harms_only_its_own_conditions(tests: ConditionTests) -> None:
    due = [Due(n, name.lower()) for n, name in enumerate(NAMES)]
    good, hangs, prints, dies, *others = await asyncio.gather(*map(tests.test, due))
    raises, nonsense, broken = others

    assert (good is not None, hangs, dies) == (True, None, None)
    assert prints == conditions.Tested(passed=False, message="y" * conditions.MESSAGE_CHARS_MAX)
    assert raises == conditions.Tested(passed=False, message="OSError: out of order")
    assert nonsense is not None
    assert not nonsense.passed
    assert broken == conditions.Tested(passed=False, message="no licence")


async def test_a_made_up_tester_costs_no_process(tests: ConditionTests) -> None:
    found = await tests.test(Due(1, "magic"))

    assert found == conditions.Tested(passed=False, message="there is no tester 'magic'")
    assert tests._all == set()


async def test_a_tester_that_hung_is_killed_and_started_again(tests: ConditionTests) -> None:
    silent, first = await asyncio.gather(
        tests.test(Due(1, "hangs")), tests.test(Due(2, "hangs", {"how": "not"}))
    )
    again = await tests.test(Due(2, "hangs", {"how": "not"}))

    assert silent is None
    assert first is not None
    assert again is not None
    assert first.message != again.message


async def test_a_process_is_kept_and_sees_no_secret(tests: ConditionTests) -> None:
    first, again = [await tests.test(Due(1, "good")) for _ in range(2)]
    assert first is not None
    pid, names = first.message.split()
    await tests.close()

    assert first == again
    assert set(names.split(",")) <= {"LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH", "TZ"}
    assert not os.path.exists(f"/proc/{pid}")  # noqa: PTH110 (of a process)
