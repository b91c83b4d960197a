"""Commands of the owner of the database: never for somebody who works as a user."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from weft.run import admin
from weft.settings import load_settings

CALLS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: call for name, call in vars(admin).items() if name.startswith("run_")}
)
ARGUMENTS = {
    "prices": {"cpu": "1"},
    "texts": ["burst/small=1"],
    "login": "grafana",
    "tenant": "default",
    "version": 1,
    "timeout_s": 1,
    "connections": 1,
    "valid_from": None,
    "reason": None,
    "force": False,
    "dry_run": False,
}


@pytest.mark.parametrize("variable", ["WEFT_TOKEN", "WEFT_URL"])
@pytest.mark.parametrize("name", CALLS)
def test_owner_is_not_who_a_token_says(
    name: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    settings, call = load_settings({"home": tmp_path}), CALLS[name]
    wanted = [one for one in inspect.signature(call).parameters if one != "settings"]
    with pytest.raises(admin.NotAsOwner, match=variable):
        call(settings, **{one: ARGUMENTS[one] for one in wanted})
