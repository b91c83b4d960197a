"""Which runner a worker gets."""

from pathlib import Path

import pytest

from plugins.package import install
from weft.core.pools.machine import EXECUTORS
from weft.plugins.log_stores.files.plugin import FileLogs
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.spawner import SpawnerRunner, WrongLogStore
from weft.plugins.runners.spawner.sandbox import NoSandbox
from weft.ports.plugins import PluginNotInstalled
from weft.ports.runner import RUNNER_PLUGINS
from weft.run.home import Home
from weft.run.worker import facts_of, make_runner
from weft.settings import Settings


def test_the_spawner_is_the_runner_of_a_worker(tmp_path: Path) -> None:
    runner = make_runner(Settings(home=tmp_path), Home(tmp_path), tmp_path)

    assert isinstance(runner, SpawnerRunner)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with a runner and an executor that translates for it."""
    install(
        tmp_path / "site",
        monkeypatch,
        runners="directory = runners.directory_engine:open_directory_runner",
        log_stores="elsewhere = runners.test_choice:LogsElsewhere",
        executors="file = runners.test_choice:FileExecutor",
    )


class FileExecutor:
    runner = "directory"


class LogsElsewhere(FileLogs):
    """A log store of some package."""

    @property
    def place(self) -> str:
        return "elsewhere"


@pytest.mark.usefixtures("package")
def test_a_package_brings_its_runner_by_an_entry_point(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    runner = make_runner(Settings(home=home.path, runner="directory"), home, home.logs)
    assert isinstance(runner, RemoteRunner)
    (tmp_path / "site/late-1.dist-info").mkdir()  # while this program runs
    (tmp_path / "site/late-1.dist-info/entry_points.txt").write_text("[weft.runners]\nlate = a:b")
    assert "late" in RUNNER_PLUGINS.names()


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("runner", "executors"), [("spawner", [*EXECUTORS]), ("directory", ["file"])]
)
def test_worker_offers_the_executors_of_its_runner(
    tmp_path: Path, runner: str, executors: list[str]
) -> None:
    facts = facts_of(Settings(home=tmp_path, runner=runner), Home(tmp_path), tmp_path)

    assert facts.offers["executor"] == executors


@pytest.mark.usefixtures("package")
def test_a_package_brings_its_log_store_by_an_entry_point(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, runner="directory", log_store="elsewhere")

    assert facts_of(settings, Home(tmp_path), tmp_path).log_place == "elsewhere"


@pytest.mark.usefixtures("package")
def test_the_spawner_is_refused_if_it_cannot_write_into_the_log_store(tmp_path: Path) -> None:
    with pytest.raises(WrongLogStore, match="does not write into the log store elsewhere"):
        make_runner(Settings(home=tmp_path, log_store="elsewhere"), Home(tmp_path), tmp_path)


def test_worker_with_sandboxes_offers_no_functions(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, sandbox="bubblewrap")

    assert facts_of(settings, Home(tmp_path), tmp_path).offers["executor"] == ["app", "process"]


@pytest.mark.usefixtures("package")
def test_runner_that_makes_no_sandboxes_is_refused_if_jobs_must_have_them(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, runner="directory", sandbox="bubblewrap")
    with pytest.raises(NoSandbox, match="directory makes no sandboxes"):
        make_runner(settings, Home(tmp_path), tmp_path)


def test_runner_that_nobody_brings_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(PluginNotInstalled, match="'nowhere' is not installed") as refused:
        make_runner(Settings(home=tmp_path, runner="nowhere"), Home(tmp_path), tmp_path)

    assert "spawner" in refused.value.detail


def test_log_store_that_nobody_brings_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(PluginNotInstalled, match="log store 'nowhere'") as refused:
        facts_of(Settings(home=tmp_path, log_store="nowhere"), Home(tmp_path), tmp_path)

    assert "files" in refused.value.detail
