"""When a worker cannot run jobs under accounts of their users, it does not start."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cases import cases
from weft.core.access.run_as import NamedTwice, account_of, parse_accounts
from weft.run.home import Home
from weft.run.host.job_accounts import NoAccounts, job_directory
from weft.run.worker import executors_of
from weft.settings import Settings


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a directory that all accounts reach, which pytest's own are not."""
    path = Path(f"/var/lib/weft-test-accounts-{os.getpid()}")
    yield path
    shutil.rmtree(path, ignore_errors=True)


def refusal_of(home: Path, directory: Path, **more: str) -> str:
    settings = Settings(home=home, run_as="user", run_as_directory=str(directory), **more)  # type: ignore[arg-type]
    with pytest.raises(NoAccounts) as refused:
        job_directory(settings, Home(home))
    assert refused.value.code == "WORKER.NO_ACCOUNTS"
    assert "run_as = worker" in refused.value.hint
    return refused.value.detail


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is not refused at once")
def test_directories_are_reached_by_all_and_changed_by_root_alone(
    place: Path, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, run_as="user", run_as_directory=str(place))
    found = job_directory(settings, Home(tmp_path))
    other = job_directory(Settings(home=tmp_path), Home(tmp_path))
    modes = {one.name: one.stat().st_mode & 0o7777 for one in found.iterdir()}

    assert other == tmp_path
    assert modes == {"scratch": 0o711, "checkpoints": 0o711}
    place.chmod(0o777)
    assert f"may change {place}" in refusal_of(tmp_path, place)
    place.chmod(0o700)
    assert f"{place} is closed" in refusal_of(tmp_path, place / "below")
    os.chown(place, 20001, 20001)
    place.chmod(0o711)
    assert f"may change {place}" in refusal_of(tmp_path, place)
    assert "runner slurm" in refusal_of(tmp_path, place, runner="slurm")


def test_only_root_runs_jobs_under_accounts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert "not root" in refusal_of(tmp_path, tmp_path)


def test_worker_with_accounts_offers_no_functions() -> None:
    assert set(executors_of(Settings(run_as="user"))) == {"app", "process"}


@cases(
    ("text", "why"),
    [
        ("ada", "form user=account"),
        ("=ada", "form"),
        ("ada=", "form"),
        ("/ada=ada", "form"),
        ("acme/=ada", "form"),
        ("ada=1:x", "uid:gid"),
        ("ada=-1:2", "uid:gid"),
        ("ada=4294967295:1", "uid:gid"),
        ("ada=a,ada=b", "named twice"),
        ("ada=a,ADA=b", "named twice"),
        ("acme/ada=a,Acme/ADA=b", "named twice"),
    ],
)
def test_wrong_accounts_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_accounts(text)


@pytest.mark.parametrize("home", ["default", "Local"])
def test_account_of_a_user_who_is_not_named(home: str) -> None:
    accounts = parse_accounts("ada=a, Acme/eve=e, bo=20001:20002")

    def found(tenant: str, name: str, given: str = "") -> str | tuple[int, int] | None:
        return account_of((tenant, name), parse_accounts(given) or accounts, home)

    assert found(home, "ada") == "a"
    assert found("acme", "Eve") == "e"
    assert found(home.upper(), "Bo") == (20001, 20002)
    assert found(home, "1000:6") == "1000:6"
    assert found("acme", "1000:6") is None
    # For the database a user of their own, as its collation may say.
    assert found(home, "B\u00d6", "b\u00f6=b") == "B\u00d6"
    assert found(home, "bob") == "bob"
    assert found("acme", "bob") is None
    assert found("acme", "ada") is None
    assert found(home, "ada", f"{home}/ada=b") == "b"
    with pytest.raises(NamedTwice):
        found(home, "ada", f"ada=a,{home}/ada=b")
