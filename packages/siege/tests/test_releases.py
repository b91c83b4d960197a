import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cases import cases
from weft import __version__
from weft.core.errors import Invalid
from weft.sql import program_schema
from weft_siege.attack import _audit
from weft_siege.faults import Fault
from weft_siege.fortress import Fortress
from weft_siege.releases import Releases

NEWER = program_schema() + 1


def python_that_says(text: str, directory: Path) -> Path:
    python = directory / "python"
    python.write_text(f"#!/bin/sh\necho {text}\n")
    python.chmod(0o700)
    return python


def test_a_role_is_of_the_other_release_until_it_is_upgraded(tmp_path: Path) -> None:
    other = python_that_says("0.0.9 1", tmp_path)
    releases = Releases(other)
    releases.roll_back("api-2")
    meanwhile = [releases.python(name) for name in ("api-2", "worker-2")]
    again = [releases.upgrade("api-2") for _ in range(2)]

    assert (releases.version, releases.begun) == ("0.0.9", 1)
    assert meanwhile == [str(other), sys.executable]
    assert again == [True, False]
    assert releases.python("api-2") == sys.executable


async def test_the_other_release_is_not_ours_by_the_python_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/ours")
    other = python_that_says("0.0.9 1 $PYTHONPATH", tmp_path)
    fortress = Fortress(tmp_path, 2, other=other)
    await (await fortress._start("api-2", {}, str(other))).wait()

    assert fortress.releases.version == "0.0.9"
    assert (tmp_path / "api-2.siege.log").read_text() == "0.0.9 1\n"


def test_this_python_is_of_this_release() -> None:
    assert Releases(Path(sys.executable)).version == __version__


@cases(("said", "detail"), [("nothing", "nothing\n"), (">&2 why; exit 3", "why\n")])
def test_a_python_without_a_release_is_refused(said: str, detail: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no python with a release of weft") as caught:
        Releases(python_that_says(said, tmp_path))

    assert caught.value.detail == detail


@cases(
    ("schema", "ran"),
    [
        (NEWER, ["-P -m weft.cli db migrate"] * 2),
        (NEWER - 1, []),
    ],
)
async def test_schema_is_brought_to_a_newer_release_once(
    schema: int, ran: Sequence[str], tmp_path: Path
) -> None:
    """Again where it was ended half way, and by that release, which audits."""
    done = tmp_path / str(schema)
    done.touch()
    said = f"9.9.9 {schema}; [ $2 = -c ] || {{ echo $* >> {done}; [ $(wc -l < {done}) = 2 ]; }}"
    fortress = Fortress(tmp_path, 2, other=(other := python_that_says(said, tmp_path)))
    releases = fortress.releases
    for _ in range(2):
        await fortress.inflict(Fault(0, "cut", "link"))
    await releases.until_brought(within_s=10)
    await fortress.inflict(Fault(0, "cut", "link"))
    await releases.until_brought(within_s=10)
    releases.stop()

    assert releases.newest == (str(other) if ran else sys.executable)
    assert done.read_text().splitlines() == ran


def test_the_release_of_the_schema_audits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/ours")
    other = python_that_says(r'"[{\"rows\": [\"$PYTHONPATH\"]}]"', tmp_path)

    assert _audit(tmp_path, str(other)) == ['{"rows": [""]}']
