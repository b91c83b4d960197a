"""Functions of the database stand on floors, and `make arch` finds one that calls up."""

import subprocess
import sys
from pathlib import Path

import pytest

from tidy.source_files import ROOT

CHECK = ROOT / "tools/check_floors.py"


def check(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECK, *arguments], check=False, capture_output=True, text=True
    )


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    """Return a folder with a function of each kind, none of which calls up."""
    for path, called in {
        "ground/checks/_fail.sql": (),
        "offers/ready/_list_ready.sql": ("_before_offer", "_fail"),
        "policies/deadlines/_park_late.sql": ("_fail",),
        "hooks/_before_offer.sql": ("_park_late",),
        "views/why/why_job.sql": ("_park_late", "why_job"),
    }.items():
        write(tmp_path / path, *called)
    return tmp_path


def write(path: Path, *called: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("-- weft.why_job (\n" + "".join(f"PERFORM weft.{one}();\n" for one in called))


def test_no_function_calls_up() -> None:
    done = check()

    assert (done.returncode, done.stderr) == (0, "")


def test_callers_of_a_function_are_listed() -> None:
    done = check("--callers", "find_tenant")

    assert done.returncode == 0
    assert [one for one in done.stdout.splitlines() if one.startswith("src/weft/store/")]
    assert "src/weft/sql/functions/ground/identity/find_tenant.sql" not in done.stdout


def test_extensions_are_called_at_hooks_alone(
    functions: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("weft")
    lines, apps = (top / f"weft_{name}/sql/functions" for name in ("lines", "apps"))
    write(lines / "policies/sinks/_tell.sql", "_fail")
    write(apps / "policies/users/_use.sql", "_tell")
    write(functions / "hooks/_before_offer.sql", "_tell")
    write(functions / "views/why/why_job.sql", "_tell")

    assert {*check(functions, lines, apps).stderr.splitlines()} == {
        f"{caller} calls _tell of the package lines" for caller in ("_use", "why_job")
    }


def test_calls_down_and_hooks_are_allowed(functions: Path) -> None:
    done = check(functions)

    assert (done.returncode, done.stderr) == (0, "")
    assert "hooks       1 functions; calls policies 1\n" in done.stdout
    assert "offers      1 functions; calls hooks 1, ground 1\n" in done.stdout


@pytest.mark.parametrize(
    ("path", "called", "problem"),
    [
        ("offers/ready/_other.sql", "_park_late", "_other (offers) calls _park_late (policies)"),
        ("ledger/jobs/_other.sql", "_before_offer", "_other (ledger) calls _before_offer"),
        ("hooks/_other.sql", "why_job", "_other (hooks) calls why_job (views)"),
        ("policies/deadlines/_park_late.sql", "_before_offer", "in a circle"),
        ("ready/_other.sql", "_fail", "ready/_other.sql stands on no floor"),
        ("offers/_other.sql", "_fail", "offers/_other.sql stands on no floor"),
    ],
)
def test_what_is_not_allowed_is_named(
    functions: Path, path: str, called: str, problem: str
) -> None:
    write(functions / path, called)

    done = check(functions)

    assert done.returncode == 1
    assert problem in done.stderr
