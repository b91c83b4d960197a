"""Tasks in the images that they name, on a worker that runs containers."""

import json
from typing import Any

import httpx
import pytest

from e2e.conftest import until
from e2e.plain_user import plain_user
from e2e.registry import registry, trust
from e2e.tmux import program

pytestmark = [pytest.mark.world(name="tes"), pytest.mark.timeout(600)]


def test_executors_share_the_paths_of_their_task_in_its_image() -> None:
    program("bwrap", "bubblewrap")
    with plain_user() as user, registry() as images:
        tried = user.run("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true")
        if tried.returncode != 0:
            pytest.skip(f"this machine lends plain users no containers: {tried.stderr.strip()}")
        trust(user, images.name)
        images.push("busy:1")
        image = f"{images.name}/busy:1"
        first = {"image": image, "command": ["sh", "-c", "cat /etc/word /in/x >/out/d/y"]}
        second = {"image": image, "command": ["cat", "y"], "workdir": "/out/d"}
        task = {
            "executors": [first, second],
            "inputs": [{"path": "/in/x", "content": "it is\n"}],
            "outputs": [{"path": "/out/d/y", "url": "weft://y"}],
        }
        up = user.up(
            WEFT_CONTAINERS="true", WEFT_TES_IMAGES="true", XDG_RUNTIME_DIR=str(user.home)
        )
        with up:
            known = json.loads(user.run("cat", f"{user.weft_home}/client.json").stdout)
            with httpx.Client(
                base_url=f"{known['url']}/ga4gh/tes/v1", auth=("", known["token"]), timeout=30
            ) as http:
                path = f"/tasks/{http.post('/tasks', json=task).json()['id']}"

                def ended() -> bool:
                    state = http.get(path).json()["state"]
                    return state not in {"QUEUED", "INITIALIZING", "RUNNING"}

                until(ended)
                found: dict[str, Any] = http.get(path, params={"view": "FULL"}).json()
                other = {"executors": [first, {**second, "image": "other"}]}
                refused = http.post("/tasks", json=other)

    (log,) = found["logs"]
    assert found["state"] == "COMPLETE", found
    assert [one["exit_code"] for one in log["logs"]] == [0, 0]
    assert log["logs"][1]["stdout"].endswith("it is\n")
    assert [one["path"] for one in log["outputs"]] == ["/out/d/y"]
    assert f"{images.name}/busy@sha256:" in log["system_logs"][0]
    assert (refused.status_code, "one image" in refused.text) == (400, True)
