"""`POST …/exec`: beside which jobs no command runs, and who learns that they are there."""

import json
from pathlib import Path

import httpx

from api.live import make_user, open_worker
from benches.route_bodies import body_of
from weft.ports.runner import RUNNER_PLUGINS
from weft.wire.exec import BEGIN, MEDIA, frame

PATH = "/v1/batches/{b}/jobs/{j}/exec"


async def ask(http: httpx.AsyncClient, batch_id: int, token: str = "") -> tuple[int, str]:
    """Ask for a command beside the first job; return the status and the code of the answer."""
    body, media = body_of(f"POST {PATH}")
    headers = {"content-type": media} | ({"authorization": f"Bearer {token}"} if token else {})
    answer = await http.post(PATH.format(b=batch_id, j=1), content=body, headers=headers)
    return answer.status_code, answer.json()["code"]


async def test_no_command_runs_beside_a_job_elsewhere(
    http: httpx.AsyncClient, database: dict[str, str], tmp_path: Path
) -> None:
    """Whatever runs it: where no spawner of its worker listens in this home, none is begun."""
    await make_user(database["admin"], tenant="others", token="o" * 20)
    answers = {}
    for name in RUNNER_PLUGINS.names():
        async with open_worker(database["weft_worker"], tmp_path / "logs", name=name) as worker:
            made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
            waiting, claimed = await ask(http, made.json()["id"]), await worker.claim()
            await worker.start(claimed)
            asked = [await ask(http, made.json()["id"], token) for token in ("", "o" * 20)]
            await worker.end(claimed)
            answers[name] = [waiting, *asked, await ask(http, made.json()["id"])]

    gone = (409, "API.JOB_NOT_RUNNING")
    refused = [gone, (409, "WORKER.EXEC_ELSEWHERE"), (404, "API.BATCH_NOT_FOUND"), gone]
    assert answers == dict.fromkeys(RUNNER_PLUGINS.names(), refused)
    assert len(answers) > 3


async def test_terminals_and_ports_have_bounds(http: httpx.AsyncClient) -> None:
    made = await http.post("/v1/batches", json={"jobs": [{"command": ["true"]}]})
    path, answers = PATH.format(b=made.json()["id"], j=1), []
    sizes = (-1, 80, "xterm"), (10**6, 10**6, "xterm"), (24, 80, "a\0b")
    terminals = [dict(zip(("rows", "columns", "name"), size, strict=True)) for size in sizes]
    documents = [{"command": ["sh"], "terminal": terminal} for terminal in terminals]
    ports = [{"port": 0}, {"port": 65_536}, {"port": "x"}, {"port": 1, "command": ["sh"]}, {}]
    for document in [*documents, *ports, {"port": 1, "terminal": {"rows": 1, "columns": 1}}]:
        body = frame(BEGIN, json.dumps(document).encode())
        answer = await http.post(path, content=body, headers={"content-type": MEDIA})
        answers.append((answer.status_code, answer.json()["code"]))

    assert answers == [(400, "API.WRONG_TYPE")] * 9
