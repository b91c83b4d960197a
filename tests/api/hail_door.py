"""What tests of Hail's door have in common: specs as its client sends them, and a client."""

from typing import Any

import httpx

API = "/api/v1alpha"
PROJECT = "default"


def job(number: int, *command: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (a spec)
    """Return a spec with the keys that the client always sends."""
    return {
        "always_run": False,
        "n_max_attempts": 20,
        "always_copy_output": False,
        "job_id": number,
        "absolute_parent_ids": [],
        "in_update_parent_ids": [],
        "process": {"type": "docker", "image": "ubuntu:24.04", "command": list(command or "x")},
        **more,
    }


def batch(token: str, *, n_jobs: int = 0, n_groups: int = 0, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (a spec)
    return {
        "billing_project": PROJECT,
        "n_jobs": n_jobs,
        "n_job_groups": n_groups,
        "token": token,
        **more,
    }


class Hail:
    """Calls the door, and expects success unless a test says otherwise."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def ask(self, method: str, path: str, body: Any = None) -> Any:  # noqa: ANN401 (JSON)
        answer = await self.http.request(method, API + path, json=body)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:  # noqa: ANN401 (JSON)
        answer = await self.http.request(method, API + path, json=body)
        assert answer.headers["content-type"].startswith("text/plain"), answer.text
        return answer.status_code, answer.text

    async def submit(self, token: str, *jobs: dict[str, Any], **more: Any) -> int:  # noqa: ANN401
        """Create a batch of these jobs in one request; return its number."""
        groups = more.pop("job_groups", [])
        spec = batch(token, n_jobs=len(jobs), n_groups=len(groups), **more)
        body = {"batch": spec, "bunch": list(jobs), "job_groups": groups}
        return int((await self.ask("POST", "/batches/create-fast", body))["id"])
