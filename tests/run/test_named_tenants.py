"""`weft up` tells of tenants and users that settings name and nobody has made."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from weft.run.named_tenants import warn_of_missing_names
from weft.settings import Settings
from weft.store import open_admin

ISSUERS = """
[[issuers]]
tenant = "local"
issuer = "https://issuer.example.org"
audience = "weft"
jwks_url = "https://issuer.example.org/keys"
"""


@pytest.mark.parametrize("run_as", ["user", "worker"])
async def test_tenants_of_another_installation_are_told(
    database: Mapping[str, str], tmp_path: Path, run_as: str
) -> None:
    path = tmp_path / "issuers.toml"
    accounts = "ada=ada,local/eve=eve,Default/bob=bob"
    settings = Settings(home=tmp_path, issuers_file=path, run_as_accounts=accounts, run_as=run_as)  # type: ignore[arg-type]
    async with open_admin(database["admin"]) as admin:
        await admin.ensure_local_user(user="ada", token="secret")
    told = []
    for text in ("not toml", ISSUERS, ISSUERS.replace("local", "DEFAULT")):
        path.write_text(text)
        with capture_logs() as logs:
            await warn_of_missing_names(database["admin"], settings)
        told.append([(one["event"], one["setting"], one["tenant"]) for one in logs])

    of_accounts = [("up.tenant_missing", "run_as_accounts", "local")] if run_as == "user" else []
    assert told == [
        of_accounts,
        [("up.tenant_missing", "issuers_file", "local"), *of_accounts],
        of_accounts,
    ]


TRANSPORTS = """
[[transports]]
name = "kafka"
kind = "kafka"
address = "kafka://127.0.0.1:9092"
tenants = ["default", "local"]
jobs = [{ door = "jobweaver", tenant = "default", user = "Ada" }]
submissions = [{ tenant = "default", user = "eve" }, { tenant = "local", user = "eve" }]

[transports.events]
tenant = "default"
user = "bob"
"""


async def test_users_whom_nobody_has_added_are_told(
    database: Mapping[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "transports.toml"
    path.write_text(TRANSPORTS)
    async with open_admin(database["admin"]) as admin:
        await admin.ensure_local_user(user="ada", token="secret")

    with capture_logs() as logs:
        await warn_of_missing_names(
            database["admin"], Settings(home=tmp_path, transports_file=path)
        )

    told = [(one["event"], one["tenant"], one.get("user")) for one in logs]
    assert told == [
        ("up.tenant_missing", "local", None),
        ("up.user_missing", "default", "bob"),
        ("up.user_missing", "default", "eve"),
    ]
