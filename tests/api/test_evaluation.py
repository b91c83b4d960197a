"""What tenants wrote is evaluated in processes that may be killed, within a budget."""

import asyncio
import importlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from typing import get_type_hints

import httpx
import msgspec
import pytest

from api.costly import LARGE, SLOW, answer
from api.live import LiveApi, submit
from api.test_queues import SHORT, queues_of, save
from tidy.source_files import product_files
from weft.core.errors import InvalidSetup, NothingEvaluates
from weft.core.lines.line import Setup
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.patience import end_tasks
from weft.run.isolated.asking.evaluation import Evaluation
from weft.settings import Settings
from weft_lines.rules.setup import parse_each_setup, parse_setup

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guides/production-lines.md"
LIBRARIES = ("cel", "jsonschema_rs", "jinja2")
EVALUATED = {
    "run/isolated/answering/message.py",
    "api/html/render.py",  # that has our own templates
    "core/apps/values.py",
    "core/deliveries/sinks.py",
    "core/queues/cel_library.py",
    "core/queues/guard.py",
    "weft_lines/rules/configuration.py",
    "weft_lines/rules/sink.py",
}
"""What uses these libraries, which a process that serves calls by `Evaluates.each` alone."""


@pytest.fixture
async def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Evaluation]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    found = Evaluation(Settings(home=tmp_path, evaluation_one_s=0.2, evaluation_all_s=0.5))
    yield found
    await found.close()


async def test_an_item_that_takes_too_much_is_alone_to_blame(evaluation: Evaluation) -> None:
    found = await evaluation.each(1, answer, "-", ["a", SLOW, "b", LARGE, "c"])

    assert [getattr(one, "alone", one) for one in found] == ["-a", True, "-b", True, "-c"]


async def test_what_the_kernel_kills_too_late_was_costly_all_the_same(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its timer counts the ticks that meet the process: these answers are here before that."""
    monkeypatch.setattr(evaluation, "_one_s", 1e-9)
    found = await evaluation.each(1, answer, "-", ["a", "b"])

    assert [getattr(one, "alone", one) for one in found] == [True, True]


@pytest.mark.heavy
async def test_a_set_has_a_budget_of_its_own(evaluation: Evaluation) -> None:
    found = await evaluation.each(1, answer, "-", [SLOW] * 10)

    assert all(isinstance(one, TooCostly) for one in found)
    assert [one.alone for one in found] == [True, True, *[False] * 8]


async def test_others_are_served_while_a_tenant_takes_its_time(evaluation: Evaluation) -> None:
    slow = [asyncio.create_task(evaluation.each(1, answer, "-", [SLOW] * 2)) for _ in range(9)]
    assert await evaluation.each(2, answer, "-", ["a"]) == ["-a"]
    assert not all(one.done() for one in slow)
    await end_tasks(slow)


async def test_what_somebody_else_has_killed_is_nobodys_fault(evaluation: Evaluation) -> None:
    await evaluation.each(1, answer, "-", ["a"])
    (pid,) = evaluation.pool.pids
    asked = asyncio.create_task(evaluation.each(1, answer, "-", [SLOW]))
    await asyncio.sleep(0)
    os.kill(pid, SIGKILL)
    with pytest.raises(NothingEvaluates):
        await asked


async def test_what_is_raised_there_is_raised_here(evaluation: Evaluation) -> None:
    with pytest.raises(InvalidSetup) as refused:
        await evaluate(evaluation, 1, parse_each_setup, None, "[nothing.x]\na = 1")

    assert [one.pointer for one in refused.value.errors] == ["/nothing"]


def test_setups_come_back_as_they_are() -> None:
    found = 0
    for text in re.findall(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        with suppress(InvalidSetup):  # a part of one
            setup = parse_setup(text)
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(setup), type=Setup) == setup
            found += 1

    assert found


def test_all_answers_have_types_that_can_be_read() -> None:
    found = []
    for file, path in product_files().items():
        for name in re.findall(
            r"^def (\w+)\((?:(?!^def ).)*?\(`Evaluates.each`\)",
            path.read_text(),
            re.DOTALL | re.MULTILINE,
        ):
            house = "" if file.startswith("weft_") else "weft."
            module = house + file.removesuffix(".py").replace("/", ".")
            function = getattr(importlib.import_module(module), name)
            found.append(msgspec.msgpack.Decoder(get_type_hints(function)["return"]))

    assert len(found) > 5


def test_only_what_is_evaluated_elsewhere_uses_the_libraries() -> None:
    found = {
        file
        for file, path in product_files().items()
        for library in LIBRARIES
        if re.search(rf"\b(import|from) {library}\b", path.read_text())
    }

    assert found == EVALUATED


def test_expressions_load_no_command_line() -> None:
    code = "import sys, weft.core.queues.cel_library; print('prompt_toolkit' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", code]) == b"False\n"


COSTLY = {
    "name": "costly",
    "priority": 90,
    "guard": "||".join(rf"job.name.matches('\\w{{10}}[a-y]{n}$')" for n in range(10)),
}
"""It takes some 35 ms of each job with another name."""


@pytest.mark.heavy
async def test_a_guard_that_takes_too_long_counts_as_false(
    http: httpx.AsyncClient, api: LiveApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(http, COSTLY, SHORT)
    await submit(http, jobs=[{"timeout_s": 60, "queue": "short"}])
    monkeypatch.setattr(api.evaluation, "_one_s", 0.01)
    monkeypatch.setattr(api.evaluation, "_all_s", 10.0)
    await submit(http, jobs=[{"timeout_s": 60, "name": "a" * 100}, {"timeout_s": 60}])

    assert await queues_of(http, 2) == ["short", "short"]
    page = (await http.get("/metrics")).text
    assert 'weft_guard_failures_total{queue="costly",role="api"} 2.0' in page


async def test_guards_that_take_too_long_for_all_jobs_refuse_them(
    http: httpx.AsyncClient, api: LiveApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(http, COSTLY, SHORT)
    monkeypatch.setattr(api.evaluation, "_all_s", 0.5)
    jobs = [{"timeout_s": 60, "name": f"a{n}" * 40} for n in range(300)]
    refused = await http.post("/v1/batches", json={"jobs": jobs})

    assert refused.json()["code"] == "API.TOO_MANY_EVALUATIONS"
    assert "costly" in refused.json()["title"]
