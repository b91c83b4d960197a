"""The door for TES by py-tes, whose every answer pydantic-tes reads, too."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import requests
import tes
from pydantictes.models import TesListTasksResponse, TesServiceInfo, TesTask

KNOWN = json.loads((Path(os.environ["WEFT_HOME"]) / "client.json").read_text())
HEADERS = {"authorization": f"Bearer {KNOWN['token']}"}
BASE = f"{KNOWN['url']}/ga4gh/tes/v1"
CLIENT = tes.HTTPClient(KNOWN["url"], timeout=30, token=KNOWN["token"])


def sh(script: str, **more: Any) -> tes.Executor:  # noqa: ANN401 (of py-tes)
    return tes.Executor(image="alpine", command=["sh", "-c", script], **more)


def created(*executors: tes.Executor, **more: Any) -> str:  # noqa: ANN401 (of py-tes)
    task_id: str = CLIENT.create_task(tes.Task(executors=list(executors), **more))
    return task_id


def shown(task_id: str, view: str = "FULL") -> dict[str, Any]:
    document: dict[str, Any] = requests.get(
        f"{BASE}/tasks/{task_id}", params={"view": view}, headers=HEADERS, timeout=30
    ).json()
    if view != "MINIMAL":
        TesTask.model_validate(document)
    assert "null" not in json.dumps(document)
    return document


def ended(task_id: str) -> dict[str, Any]:
    CLIENT.wait(task_id, timeout=60)
    CLIENT.get_task(task_id, "FULL")
    return shown(task_id)


def listed(**query: Any) -> list[str]:  # noqa: ANN401 (of TES)
    answer = requests.get(f"{BASE}/tasks", params=query, headers=HEADERS, timeout=30)
    assert answer.status_code == 200, answer.text
    return [task["id"] for task in answer.json()["tasks"]]


def test_service_info() -> None:
    told = requests.get(f"{BASE}/service-info", headers=HEADERS, timeout=30).json()

    assert TesServiceInfo.model_validate(told).type.version == "1.1.0"
    assert CLIENT.get_service_info().name == "weft"
    assert "weft.queue" in told["tesResources_backend_parameters"]


def test_task_runs_and_is_shown_in_three_views() -> None:
    env, tags = {"NAME": "Ann", "API_TOKEN": "x9x"}, {"run": "7"}
    resources = tes.Resources(cpu_cores=1, ram_gb=0.1, disk_gb=1e-6, preemptible=False)
    task_id = created(
        sh('echo hello $NAME; echo "no $API_TOKEN" >&2', env=env),
        name="hello",
        description="says it",
        tags=tags,
        resources=resources,
    )
    full = ended(task_id)
    (log,) = full["logs"]
    (executor,) = log["logs"]
    basic, least = shown(task_id, "BASIC"), shown(task_id, "MINIMAL")

    assert least == {"id": task_id, "state": "COMPLETE"}
    assert (executor["stdout"], executor["stderr"]) == ("hello Ann\n", "no x9x\n")
    assert executor["exit_code"] == 0
    assert log["start_time"] <= log["end_time"]
    assert (full["name"], full["tags"], full["description"]) == ("hello", tags, "says it")
    assert full["resources"] == {
        "cpu_cores": 1,
        "ram_gb": 0.1,
        "disk_gb": 1e-6,
        "preemptible": False,
    }
    assert full["executors"][0]["env"] == {"NAME": "Ann", "API_TOKEN": "<masked>"}
    assert "stdout" not in basic["logs"][0]["logs"][0]
    assert "system_logs" not in basic["logs"][0]


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [("exit 3", "EXECUTOR_ERROR", 3), ("kill -9 $$", "EXECUTOR_ERROR", 137)],
)
def test_failure_tells_its_exit_code(script: str, state: str, code: int) -> None:
    task = ended(created(sh(script)))

    assert (task["state"], task["logs"][0]["logs"][0]["exit_code"]) == (state, code)


def test_program_that_is_not_there_is_a_failure_of_the_executor() -> None:
    task = ended(created(tes.Executor(image="alpine", command=["no-such-program"])))

    assert (task["state"], task["logs"][0]["logs"][0]["exit_code"]) == ("EXECUTOR_ERROR", 127)


def test_executors_run_in_turn_and_share_their_files() -> None:
    content = "it's $HOME\n" * 20_000
    task = ended(
        created(
            sh("wc -c; echo $A >&2", stdin="/data/in.txt", env={"A": "one"}),
            sh("exit 4", ignore_error=True, env={"A": "two"}),
            sh("cat in.txt >/share/copy.txt; ls; exit 5", workdir="/data", stdout="/share/out"),
            sh("echo never"),
            inputs=[tes.Input(path="/data/in.txt", content=content)],
            volumes=["/share"],
        )
    )
    logs = task["logs"][0]["logs"]

    assert task["state"] == "EXECUTOR_ERROR"
    assert [one["exit_code"] for one in logs] == [0, 4, 5]
    assert (logs[0]["stdout"].strip(), logs[0]["stderr"]) == (str(len(content)), "one\n")
    assert logs[2]["stdout"] == "in.txt\n"
    assert task["inputs"][0]["content"] == content
    assert "content" not in shown(task["id"], "BASIC")["inputs"][0]


def test_error_that_is_ignored_completes() -> None:
    task = ended(created(sh("exit 9", ignore_error=True)))

    assert (task["state"], task["logs"][0]["logs"][0]["exit_code"]) == ("COMPLETE", 9)


def test_outputs_are_inputs_of_other_tasks() -> None:
    script = "mkdir -p /out/d/e; echo 1 >/out/d/a.txt; echo 2 >/out/d/e/b.txt; echo 3 >/out/c"
    first = ended(
        created(
            sh(script),
            outputs=[
                tes.Output(path="/out/c", url="weft://kept/c"),
                tes.Output(path="/out/d", url="weft://all", type="DIRECTORY"),
                tes.Output(path="/out/d/*.txt", path_prefix="/out", url="weft://some"),
            ],
        )
    )
    outputs = {one["path"]: one for one in first["logs"][0]["outputs"]}
    second = ended(
        created(
            sh("cat /data/x"), inputs=[tes.Input(path="/data/x", url=outputs["/out/c"]["url"])]
        )
    )

    assert first["state"] == "COMPLETE", first
    assert outputs.keys() == {"/out/c", "/out/d/a.txt", "/out/d/e/b.txt"}
    assert outputs["/out/d/e/b.txt"]["url"].endswith(".j1/all/e/b.txt")
    assert outputs["/out/c"]["size_bytes"] == "2"
    assert second["logs"][0]["logs"][0]["stdout"] == "3\n"


def test_output_that_is_missing_is_an_error_of_the_system() -> None:
    task = ended(created(sh("true"), outputs=[tes.Output(path="/out/c", url="weft://c")]))

    assert task["state"] == "SYSTEM_ERROR"
    assert any("out/c" in note for note in task["logs"][0]["system_logs"])


def test_cancelled_task_ends_so_and_twice_is_the_same() -> None:
    task_id = created(sh("sleep 600"))
    CLIENT.cancel_task(task_id)
    while (state := shown(task_id, "MINIMAL")["state"]) != "CANCELED":
        assert state == "CANCELING"
    CLIENT.cancel_task(task_id)

    assert ended(task_id)["state"] == "CANCELED"


def test_task_that_waits_has_no_logs() -> None:
    """GA4GH's openapi-test-runner breaks off at a list of logs that is empty."""
    one = {"name": "one", "priority": 1, "guard": "false", "max_running": 1}
    url = f"{KNOWN['url']}/v1/queues"
    requests.put(url, json={"queues": [one]}, headers=HEADERS, timeout=30).raise_for_status()
    in_it = tes.Resources(backend_parameters={"weft.queue": "one"})
    before = created(sh("sleep 600"), resources=in_it)
    while shown(before, "MINIMAL")["state"] != "RUNNING":
        pass
    waiting = created(sh("true"), resources=in_it)
    states = [shown(waiting, view)["state"] for view in ("MINIMAL", "BASIC", "FULL")]
    named = ["logs" in shown(waiting, view) for view in ("BASIC", "FULL")]
    read = CLIENT.get_task(waiting, "FULL").logs
    for task_id in (waiting, before):
        CLIENT.cancel_task(task_id)

    assert (states, named, read) == (["QUEUED"] * 3, [False] * 2, None)


def test_lists_are_paged_and_filtered() -> None:
    name = f"listed {uuid4()}"
    mine = [
        created(sh(f"exit {n % 2}"), name=f"{name} {n}", tags={"n": str(n), "kind": name})
        for n in range(5)
    ]
    for task_id in mine:
        CLIENT.wait(task_id, timeout=60)
    page = CLIENT.list_tasks(page_size=2)
    after = CLIENT.list_tasks(page_size=2, page_token=page.next_page_token)
    for view in ("BASIC", "FULL"):
        answer = requests.get(
            f"{BASE}/tasks", params={"view": view, "page_size": 5}, headers=HEADERS, timeout=30
        )
        TesListTasksResponse.model_validate(answer.json())
    newest = mine[::-1]

    assert [task.id for task in (*page.tasks, *after.tasks)] == newest[:4]
    assert listed(name_prefix=name) == newest
    assert listed(name_prefix="listed%") == []
    assert listed(name_prefix=name, state="COMPLETE") == [mine[4], mine[2], mine[0]]
    assert listed(state="EXECUTOR_ERROR", page_size=1) == [mine[3]]
    assert listed(tag_key=["kind", "n"], tag_value=[name, "2"]) == [mine[2]]
    assert listed(tag_key=["n", "kind"], tag_value=["3", ""])[0] == mine[3]
    assert listed(tag_key="kind")[:5] == newest
    assert listed(tag_key="kind", tag_value="other") == []


def test_same_key_is_the_same_task() -> None:
    task = {"executors": [{"image": "a", "command": ["true"]}]}
    headers = {**HEADERS, "idempotency-key": "k7"}
    answers = [
        requests.post(f"{BASE}/tasks", json=task, headers=headers, timeout=30) for _ in range(2)
    ]

    assert len({answer.json()["id"] for answer in answers}) == 1


RUN = {"image": "alpine", "command": ["true"]}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"executors": []}, "executors"),
        ({"executors": [{"image": "a"}]}, "command"),
        ({"executors": [{"image": "a", "command": []}]}, "command"),
        ({"inputs": [{"path": "in", "url": "file:///x"}]}, "inputs[0].path"),
        ({"inputs": [{"path": "/data/../x", "url": "file:///x"}]}, "inputs[0].path"),
        ({"inputs": [{"path": "/etc/x", "content": ""}]}, "/etc"),
        ({"inputs": [{"path": "/data/x"}]}, "neither url nor content"),
        ({"inputs": [{"path": "/data/x", "url": "gs://b/x"}]}, "file:///PATH"),
        ({"inputs": [{"path": "/data/x", "url": "s3://b/x"}]}, "file:///PATH"),
        ({"inputs": [{"path": "/data", "url": "file:///x", "type": "DIRECTORY"}]}, "files only"),
        ({"outputs": [{"path": "/data/x", "url": "file:///x"}]}, "weft://NAME"),
        ({"outputs": [{"path": "/data/*", "url": "weft://x"}]}, "path_prefix"),
        ({"outputs": [{"path": "/d/*", "url": "weft://x", "path_prefix": "/e"}]}, "path_prefix"),
        ({"resources": {"cpu_cores": "many"}}, "cpu_cores"),
        ({"resources": {"ram_gb": 1e300}}, "ram_gb"),
        ({"resources": {"backend_parameters": {"WEFT.priority": "x"}}}, "weft.priority"),
        (
            {"resources": {"backend_parameters": {"a": "b"}, "backend_parameters_strict": True}},
            "'a'",
        ),
        ({"executors": [{**RUN, "env": {"a b": "c"}}]}, "env"),
        ({"name": "a\0b"}, "NUL"),
        ({"description": "x" * (128 << 10)}, "bytes"),
        (
            {
                "outputs": [
                    {"path": f"/d/{n}/{'x' * 200}", "url": f"weft://{'y' * 900}/{n}"}
                    for n in range(90)
                ]
            },
            "bytes",
        ),
    ],
)
def test_what_is_wrong_is_told(wrong: Mapping[str, Any], words: str) -> None:
    answer = requests.post(
        f"{BASE}/tasks", json={"executors": [RUN], **wrong}, headers=HEADERS, timeout=30
    )

    assert (answer.status_code, answer.json()["status"]) == (400, 400), answer.text
    assert words in answer.json()["detail"], answer.text


@pytest.mark.parametrize(
    "query",
    [
        {"page_size": "2048"},
        {"page_size": "x"},
        {"page_token": "x"},
        {"view": "ALL"},
        {"state": "DONE"},
    ],
)
def test_parameters_are_checked(query: dict[str, str]) -> None:
    answer = requests.get(f"{BASE}/tasks", params=query, headers=HEADERS, timeout=30)

    assert answer.status_code == 400, answer.text


def test_unknown_tasks_and_tokens() -> None:
    with pytest.raises(requests.HTTPError, match="404"):
        CLIENT.get_task("nowhere", "BASIC")
    for login in (None, ("ann", "wrong")):
        answer = requests.get(f"{BASE}/tasks", auth=login, timeout=30)
        assert (answer.status_code, answer.json()["status"]) == (401, 401)


def test_token_is_taken_as_a_password() -> None:
    client = tes.HTTPClient(KNOWN["url"], user="anybody", password=KNOWN["token"])

    assert client.get_service_info().name == "weft"


def test_what_nobody_knows_is_said_and_not_kept() -> None:
    resources = {"backend_parameters": {"vm": "x", "weft.priority": "3"}}
    made = requests.post(
        f"{BASE}/tasks",
        json={"executors": [{**RUN, "gpu": 1}], "resources": resources},
        headers=HEADERS,
        timeout=30,
    ).json()
    task = ended(made["id"])

    assert task["resources"]["backend_parameters"] == {"weft.priority": "3"}
    assert "gpu" not in task["executors"][0]
    assert any("vm" in note for note in task["logs"][0]["system_logs"])
