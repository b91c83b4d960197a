"""The environment of jobs."""

import pytest

from weft.plugins.executors.job_environment import name_and_home


def test_user_without_a_name_is_called_by_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that a container was started with by its number."""
    monkeypatch.setenv("HOME", "/somewhere")

    assert name_and_home(0) == ("root", "/root")
    assert name_and_home(54321) == ("54321", "/somewhere")
