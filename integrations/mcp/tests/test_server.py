"""The server as an agent's program starts it, called by the SDK's own client over stdio."""

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import weft

PROGRAM = str(Path(sys.executable).with_name("weft-mcp"))
READING = {"list_batches", "list_jobs", "status", "why", "logs", "failures", "costs"}
TOKEN = "weft_" + "Aq3_xY7-" * 5
Call = tuple[str, dict[str, Any]]
Answers = tuple[set[str], list[tuple[bool, str]]]


async def _ask(calls: Sequence[Call], arguments: Sequence[str], more: dict[str, str]) -> Answers:
    program = StdioServerParameters(
        command=PROGRAM, args=list(arguments), env=dict(os.environ) | more
    )
    async with Client(stdio_client(program)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        answers = [await client.call_tool(name, values) for name, values in calls]
    return names, [(bool(answer.is_error), answer.content[0].text) for answer in answers]


def ask(*calls: Call, arguments: Sequence[str] = (), **more: str) -> Answers:
    """Return the names of the tools, and whether each answer is an error, with its text."""
    return asyncio.run(_ask(calls, arguments, more))


@pytest.fixture(scope="module")
def failed() -> str:
    with weft.Client() as client:
        draft = client.create_batch(name="genes")
        told = [f"WEFT_TOKEN={TOKEN}", f"Bearer {TOKEN}", f"password: {TOKEN[:20]}", TOKEN]
        script = f"echo no such gene >&2; printf '%s\\n' {shlex.join(told)}; exit 3"
        draft.create_job(["sh", "-c", script], env={"API_TOKEN": TOKEN})
        batch = draft.submit()
        batch.wait(progress=False)
        return f"b{batch.id}"


def test_it_only_reads_unless_it_may_write(failed: str) -> None:
    names, ((is_error, text),) = ask(("cancel", {"ref": failed}))

    assert (names, is_error) == (READING, True)
    assert "cancel" in text
    assert ask(arguments=["--write"])[0] == READING | {"submit", "cancel"}


def test_each_tool_answers(failed: str) -> None:
    job = f"{failed}.j1"
    calls: dict[str, dict[str, Any]] = {
        "list_batches": {"query": 'name = "genes"'},
        "list_jobs": {"batch": failed, "query": "state = failed"},
        "status": {"ref": job},
        "why": {"ref": job},
        "logs": {"job": job, "stream": "both"},
        "failures": {"batch": failed},
        "costs": {"by": "user"},
    }
    names, answers = ask(*calls.items())
    told = dict(zip(calls, answers, strict=True))

    assert calls.keys() == names
    assert not [name for name, (is_error, _) in told.items() if is_error], told
    assert json.loads(told["list_batches"][1])[0]["name"] == "genes"
    assert json.loads(told["list_jobs"][1])[0]["exit_code"] == 3
    assert "exit code 3" in told["why"][1]
    assert "no such gene" in told["logs"][1]
    assert not [name for name, (_, text) in told.items() if TOKEN[:20] in text]


def test_what_may_write_submits_and_cancels() -> None:
    document = {"name": "sleeps", "jobs": [{"command": ["sleep", "600"]}]}
    _, ((_, ref),) = ask(("submit", {"document": document}), arguments=["--write"])
    ask(("cancel", {"ref": ref}), arguments=["--write"])
    with weft.Client() as client:
        assert client.get_batch(ref).wait(progress=False)["n_cancelled"] == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("status", {"ref": "b999999"}), "weft: "),
        (("status", {"ref": "nonsense"}), "weft: "),
        (("list_batches", {"query": "state ="}), "weft: "),
        (("submit", {"document": {"jobs": [{"comand": []}]}}), "comand"),
        (("logs", {}), "job"),
    ],
)
def test_mistakes_are_told(call: Call, words: str) -> None:
    _, ((is_error, text),) = ask(call, arguments=["--write"])

    assert (is_error, words in text) == (True, True), text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"WEFT_TOKEN": TOKEN}, "token is unknown"),
        ({"WEFT_URL": "http://127.0.0.1:9", "WEFT_TOKEN": TOKEN}, "cannot reach"),
    ],
)
def test_a_server_that_refuses_is_said(more: dict[str, str], words: str) -> None:
    _, ((is_error, text),) = ask(("list_batches", {}), **more)

    assert (is_error, words in text, TOKEN in text) == (True, True, False), text
