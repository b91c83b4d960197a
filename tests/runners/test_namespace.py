"""Jobs get a PID namespace where they lose nothing by it."""

import os
from pathlib import Path

import pytest

from weft.plugins.runners.spawner.sandbox import (
    NoNamespace,
    find_namespace,
    lost_groups,
    namespace_words,
)


def test_user_with_other_groups_gets_none_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getegid", lambda: 1000)
    monkeypatch.setattr(os, "getgroups", lambda: [1000, 27])

    assert lost_groups() == [27]
    assert find_namespace("auto").words == ()
    assert find_namespace("auto").is_chosen


def test_root_loses_no_group() -> None:
    if os.geteuid() == 0:
        assert lost_groups() == []


def test_none_is_asked_for() -> None:
    assert namespace_words("never") == ()


def test_one_that_must_be_and_cannot_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert namespace_words("auto") == ()
    with pytest.raises(NoNamespace, match="PID namespace"):
        namespace_words("always")
