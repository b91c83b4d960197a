"""Testers in processes of their own: a bad one harms nobody else."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from weft.core.conditions import MESSAGE_CHARS_MAX
from weft.run.condition_tests import ConditionTests
from weft.settings import Settings

pytestmark = pytest.mark.slow
BAD = """
import os, time
from weft.core.conditions import Tested

class Good:
    parameters, optional = (), ()
    def test(self, parameters, site):
        return Tested(True, f"{os.getpid()} " + ",".join(sorted(os.environ)))

class Hangs(Good):
    optional = ("how",)
    def test(self, parameters, site):
        if parameters.get("how") == "not":
            return Tested(True, str(os.getpid()))
        time.sleep(3600)

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
    found = await tests.test([Due(n, name.lower()) for n, name in enumerate(NAMES, 1)])

    assert found[1].passed
    assert {2, 4}.isdisjoint(found)  # hangs, dies
    assert (found[3].passed, found[3].message) == (False, "y" * MESSAGE_CHARS_MAX)
    assert (found[5].passed, found[5].message) == (False, "OSError: out of order")
    assert not found[6].passed
    assert (found[7].passed, found[7].message) == (False, "no licence")


async def test_a_made_up_tester_costs_no_process(tests: ConditionTests) -> None:
    found = await tests.test([Due(1, "magic")])

    assert (found[1].passed, found[1].message) == (False, "there is no tester 'magic'")
    assert tests._all == set()


async def test_a_tester_that_hung_is_killed_and_started_again(tests: ConditionTests) -> None:
    first = await tests.test([Due(1, "hangs"), Due(2, "hangs", {"how": "not"})])
    again = await tests.test([Due(2, "hangs", {"how": "not"})])

    assert list(first) == list(again) == [2]
    assert first[2].message != again[2].message


async def test_a_process_is_kept_and_sees_no_secret(tests: ConditionTests) -> None:
    first, again = [(await tests.test([Due(1, "good")]))[1].message for _ in range(2)]
    pid, names = first.split()
    await tests.close()

    assert first == again
    assert set(names.split(",")) <= {"LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH", "TZ"}
    assert not os.path.exists(f"/proc/{pid}")  # noqa: PTH110 (of a process)
