"""Visits by both clients and on the command line."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

import httpx
import pytest

import weft
from api.live import TOKEN, LiveApi, LiveWorker
from api.test_tenants import create
from weft.cli.app import run_command
from weft.core.errors import NotInVisit, TenantNotFound
from weft.settings import load_settings

REFUSED = 4
TIMES = re.compile(r"[\d.,:]+( m?s)?|\s+")
READING = (
    "ls",
    "ls failed",
    "jobs {b}",
    "groups {b}",
    "status {b}",
    "status {b}.j1",
    "why {b}.j2",
    "logs {b}.j1",
    "failures {b}",
    "usage {b}.j1",
    "wait {b}.j1",
    "dag {b}",
    "top --once",
    "minutes",
    "billing ls",
    "billing report",
    "queue ls",
    "queue show default",
    "pool ls",
    "worker ls",
    "condition ls",
    "schedule ls",
    "limit ls",
    "quota ls",
    "share {b}",
    "user ls",
    "trail -n 1",
    "tenant show acme",
    "callback ls {b}",
    "operation ls",
    "licence ls",
)
CHANGING = (
    "cancel {b}",
    "hold {b}",
    "retry {b}",
    "delete {b} --yes",
    "resubmit {b}",
    "hide {b}",
    "user add eve",
    "secret rm x",
    "token create x",
    "queue drain default",
    "share {b} --with ann",
)


@dataclass(frozen=True)
class Acme:
    """A tenant with a batch, of which one job has run."""

    batch: int
    token: str


@pytest.fixture
async def acme(http: httpx.AsyncClient, worker: LiveWorker) -> Acme:
    ann = await create(http, "acme")
    jobs = [{"command": ["true"]}, {"command": ["true"], "not_before": "2100-01-01T00:00:00Z"}]
    made = await http.post("/v1/batches", json={"name": "theirs", "jobs": jobs}, headers=ann)
    (job,) = await worker.claim_and_start()
    worker.write(job, (1, b"hello\n"))
    await worker.end([job], output=(6, 0))
    return Acme(made.json()["id"], ann["authorization"].removeprefix("Bearer "))


async def said(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    exit_code = await asyncio.to_thread(run_command, list(words))
    printed = capsys.readouterr()
    return exit_code, printed.out, printed.err


async def test_client_looks_into_a_tenant(
    api: LiveApi, acme: Acme, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with weft.aio.Client(url=api.url, token=TOKEN, visit="acme") as client:
        names = [one["name"] async for one in client.list_batches()]
        batch = await client.get_batch(acme.batch)
        who = await client.whoami()
        with pytest.raises(NotInVisit):
            await batch.cancel()
        with pytest.raises(NotInVisit):
            await client.create_batch(name="mine").submit()
    monkeypatch.setenv("WEFT_VISIT", "acme")
    async with (
        weft.aio.Client(url=api.url, token=TOKEN) as by_variable,
        weft.aio.Client(url=api.url, token=TOKEN, visit="") as at_home,
        weft.aio.Client(url=api.url, token=acme.token, visit="local") as stranger,
    ):
        tenants = [(await one.whoami())["tenant"] for one in (by_variable, at_home)]
        with pytest.raises(TenantNotFound):
            await stranger.whoami()

    assert (names, who["tenant"]) == (["theirs"], "acme")
    assert tenants == ["acme", "local"]


async def test_name_that_is_not_text_is_that_of_no_tenant(api: LiveApi) -> None:
    """As a variable of the environment may be."""
    async with weft.aio.Client(url=api.url, token=TOKEN, visit="\udcff") as client:
        with pytest.raises(TenantNotFound):
            await client.whoami()


async def test_client_without_a_loop_looks_into_a_tenant(api: LiveApi, acme: Acme) -> None:
    def look() -> tuple[str, str]:
        with weft.Client(url=api.url, token=TOKEN, visit="acme") as client:
            batch = client.get_batch(acme.batch)
            with pytest.raises(NotInVisit):
                batch.hold()
            return client.whoami()["tenant"], batch.status()["name"]

    assert await asyncio.to_thread(look) == ("acme", "theirs")


async def test_commands_say_on_a_visit_what_users_of_the_tenant_are_told(
    api: LiveApi, acme: Acme, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEFT_URL", api.url)
    wrong = {}
    for text in READING:
        words = text.format(b=f"b{acme.batch}").split()
        told = []
        for token, more in ((TOKEN, ["--visit", "acme"]), (acme.token, [])):
            monkeypatch.setenv("WEFT_TOKEN", token)
            told.append(await said([*words, *more], capsys))
        if told[0][0] != told[1][0] or "on a visit" in told[0][2]:
            wrong[text] = told
        if TIMES.sub("", told[0][1]) != TIMES.sub("", told[1][1]):
            wrong[text] = told

    assert wrong == {}


async def test_commands_that_change_something_are_refused_on_a_visit(
    api: LiveApi,
    http: httpx.AsyncClient,
    acme: Acme,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whether the option or the variable says it; the option counts more."""
    monkeypatch.setenv("WEFT_URL", api.url)
    monkeypatch.setenv("WEFT_TOKEN", TOKEN)
    told = {}
    for text in CHANGING:
        words = text.format(b=f"b{acme.batch}").split()
        told[text] = await said([*words, "--visit", "acme"], capsys)
    monkeypatch.setenv("WEFT_VISIT", "acme")
    by_variable = await said(["cancel", f"b{acme.batch}"], capsys)
    at_home = [await said([*words, "--visit", "local"], capsys) for words in (["ls"], ["whoami"])]
    batch = (await http.get(f"/v1/batches/{acme.batch}", headers={"x-weft-visit": "acme"})).json()

    assert {text: one for text, one in told.items() if one[0] != REFUSED} == {}
    assert by_variable[0] == REFUSED
    assert "nothing is changed on a visit to tenant acme" in by_variable[2]
    assert "--visit" in by_variable[2]
    assert [one[0] for one in at_home] == [0, 0]
    assert "theirs" not in at_home[0][1]
    assert (batch["cancelled"], batch["held"]) == (False, False)


def test_variable_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_VISIT", "acme")

    assert load_settings().visit == "acme"
