"""Hydra's own tests of launchers, on the weft of `WEFT_HOME`."""

import pytest
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.test_utils.launcher_common_tests import IntegrationTestSuite, LauncherTestSuite


def test_hydra_finds_it() -> None:
    assert "WeftLauncher" in [each.__name__ for each in Plugins.instance().discover(Launcher)]


@pytest.mark.parametrize(("launcher_name", "overrides"), [("weft", [])])
class TestLauncher(LauncherTestSuite):
    """Those of launchers."""


@pytest.mark.parametrize(
    ("task_launcher_cfg", "extra_flags"), [({}, ["-m", "hydra/launcher=weft"])]
)
class TestPrograms(IntegrationTestSuite):
    """Those that start programs."""
