"""`weft db views` on a real database: what it prints opens the views."""

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from contexts import connected
from weft.cli.app import run_command
from weft.store import open_admin


def test_login_is_made_listed_and_removed(
    database: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"v{uuid4().hex}"

    async def tenant() -> None:
        async with open_admin(database["admin"]) as admin:
            await admin.ensure_local_user(user="ada", token="t", tenant="acme")

    async def read(dsn: str) -> int:
        async with connected(dsn) as connection:
            return int(await connection.fetchval("SELECT count(*) FROM jobs"))

    def said(*words: str) -> str:
        assert run_command(["db", "views", *words]) == 0
        return capsys.readouterr().out

    asyncio.run(tenant())
    monkeypatch.setenv("WEFT_HOME", str(tmp_path))
    monkeypatch.setenv("WEFT_DATABASE", database["admin"])
    dsn = said("add", name, "--tenant", "acme").strip()
    assert asyncio.run(read(dsn)) == 0
    assert name in said("ls")
    (listed,) = json.loads(said("ls", "--json"))
    assert (listed["login"], listed["tenant"]) == (name, "acme")
    assert json.loads(said("rm", name, "--json")) == {"removed": name}
    with pytest.raises(asyncpg.InvalidPasswordError):
        asyncio.run(read(dsn))
