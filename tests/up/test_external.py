"""`weft up --database DSN`: the same on somebody else's PostgreSQL."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from contexts import connected
from up.external_server import INSTALLED, external_server
from up.weft_up import get, post, processes_of, run_weft, up
from weft.run.database import external_secrets
from weft.run.home import Home
from weft.run.login import BadDsn, password_of, with_login

pytestmark = pytest.mark.heavy

slow = pytest.mark.slow
installed = pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL of the distribution")


@pytest.fixture(scope="module", params=INSTALLED, ids=lambda path: path.parts[-3])
def dsn(request: pytest.FixtureRequest) -> Iterator[str]:
    with external_server(request.param) as server:
        yield server.dsn()


@slow
@installed
def test_external_server_is_migrated_and_serves(home: Path, dsn: str) -> None:
    with up(home, "--database", dsn) as weft:
        weft.until_ready()
        batch = post(home, "/v1/batches", {"name": "kept"})
        processes = processes_of(home)
        told = [
            Path(f"/proc/{pid}/{name}").read_text()
            for pid in processes
            for name in ("cmdline", "environ")
        ]
        weft.signal(signal.SIGINT)
        weft.finish()
    passwords = json.loads((home / "secrets.json").read_text())
    with up(home, "--database", dsn) as again:
        again.until_ready()
        kept = get(home, f"/v1/batches/{batch['id']}")

    assert kept["name"] == "kept"
    assert "postgres" not in processes.values()
    assert not any("word" in text for text in told)
    assert json.loads((home / "secrets.json").read_text()) == passwords
    assert not (home / "pg").exists()


@slow
@installed
def test_older_program_on_a_newer_schema_is_refused(home: Path, dsn: str) -> None:
    async def migrate_as_a_newer_weft(statement: str) -> None:
        async with connected(dsn) as connection:
            await connection.execute(statement)

    with up(home, "--database", dsn) as weft:
        weft.until_ready()
    asyncio.run(
        migrate_as_a_newer_weft(
            "INSERT INTO weft.migration (name, checksum) VALUES ('9999_pre_future', '')"
        )
    )
    refused = [
        run_weft("up", "--home", str(home), "--port", "0", "--database", dsn, *more)
        for more in ((), ("--detach",))
    ]
    asyncio.run(
        migrate_as_a_newer_weft("DELETE FROM weft.migration WHERE name = '9999_pre_future'")
    )

    for one in refused:
        assert one.returncode == 4
        assert "newer weft" in one.stderr
        assert "9999_pre_future" in one.stderr
    assert processes_of(home) == {}


@slow
def test_server_that_is_not_there_is_said(home: Path) -> None:
    refused = run_weft(
        "up",
        "--home",
        str(home),
        "--port",
        "0",
        "--database",
        "postgresql://u:secret@127.0.0.1:1/x",
    )

    assert refused.returncode == 3
    assert "secret" not in refused.stderr
    assert processes_of(home) == {}


def test_each_role_gets_a_login_with_a_password_of_its_own() -> None:
    dsn = "postgresql://me:p%40ss@db.example:6432/weft?sslmode=require&user=x"
    secrets = external_secrets(dsn, {})

    assert secrets["admin"] == dsn
    assert len({password_of(one) for one in secrets.values()}) == 4
    assert secrets["weft_api"].endswith("@db.example:6432/weft?sslmode=require")


def test_passwords_are_kept_when_the_owner_changes() -> None:
    before = external_secrets("postgresql://me:a@one/weft", {})
    after = external_secrets("postgresql://you:b@one/weft?sslmode=require", before)

    assert password_of(after["weft_driver"]) == password_of(before["weft_driver"])
    assert "sslmode=require" in after["weft_driver"]


@slow
@installed
def test_embedded_database_is_found_again_after_another_one(home: Path, dsn: str) -> None:
    """`--database` does not touch its logins, whether the other one was reached or not."""
    with up(home) as weft:
        weft.until_ready()
        batch = post(home, "/v1/batches", {"name": "embedded"})
    before = (home / "secrets.json").read_text()
    refused = run_weft(
        "up", "--home", str(home), "--port", "0", "--database", "postgresql://u:p@127.0.0.1:1/x"
    )
    after_refusal = (home / "secrets.json").read_text()
    with up(home, WEFT_DATABASE=dsn) as weft:
        weft.until_ready()
        others = [one["name"] for one in get(home, "/v1/batches")["items"]]
        status = run_weft("db", "status", "--home", str(home))
        in_use = Home(home).secrets()["admin"]
    with up(home) as weft:
        weft.until_ready()
        found = get(home, f"/v1/batches/{batch['id']}")

    assert refused.returncode == 3
    assert after_refusal == before
    assert "embedded" not in others
    assert status.returncode == 0
    assert in_use == dsn
    assert found["name"] == "embedded"


@pytest.mark.parametrize("dsn", ["", "host=db", "mysql://db/x", "db:5432"])
def test_what_is_no_url_of_postgresql_is_refused(dsn: str) -> None:
    with pytest.raises(BadDsn):
        external_secrets(dsn, {})


def test_login_is_quoted() -> None:
    dsn = with_login("postgresql:///weft?host=/run/x", "weft_api", "a/b@c:d")

    assert password_of(dsn) == "a/b@c:d"
    assert dsn.startswith("postgresql://weft_api:a%2Fb%40c%3Ad@/weft?host=")
