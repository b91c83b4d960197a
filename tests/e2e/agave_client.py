"""Agave's own client in a process of its own, which knows weft by its url and a token only."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CLIENT_S = 120.0
_BEFORE = """
import importlib, json, os, sys, time, warnings
warnings.simplefilter('ignore')
import requests
from agavepy.agave import Agave, load_resource

B, T = os.environ['AGAVE_URL'], os.environ['AGAVE_TOKEN']

def say(document):
    with open(sys.argv[1], 'w') as file:
        json.dump(document, file, default=str)

def client(token=T):
    res = load_resource(B)
    for api in res['apis']:
        api['api_declaration']['basePath'] = B
    found = Agave(api_server=B, token=token, refresh_token='unused', resources=res)
    found.host = '127.0.0.1'
    found.refresh_aris()
    return found

def status_of(call, *args, **more):
    try:
        call(*args, **more)
    except requests.HTTPError as error:
        return error.response.status_code
    return 200

def wait(job_id, *wanted):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = ag.jobs.getStatus(jobId=job_id)['status']
        if found in wanted:
            return found
    raise SystemExit('it is ' + found)

ENDED = ('FINISHED', 'FAILED', 'STOPPED')
ag = client()
"""


@dataclass(frozen=True)
class AgaveClient:
    """Runs programs that use `agavepy`."""

    python: Path
    directory: Path
    url: str
    token: str

    def run(self, program: str) -> Any:  # noqa: ANN401 (JSON)
        """Run a program after the client was made as `ag`; return what it said with `say`."""
        result = self.directory / "said.json"
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": str(self.directory), "NO_PROXY": "*", "AGAVE_URL": self.url}
        done = subprocess.run(
            [self.python, "-c", _BEFORE + program, result],
            check=False,
            capture_output=True,
            env={**kept, **own, "AGAVE_TOKEN": self.token},
            timeout=CLIENT_S,
            cwd=self.directory,
        )
        assert done.returncode == 0, done.stderr.decode()[-4000:]
        return json.loads(result.read_text())


def agave_python() -> Path:
    """Return the Python that has the client; the project's script installs it once."""
    subprocess.run([ROOT / "tools" / "environment.sh", "agave"], check=True, cwd=ROOT)
    return ROOT / ".tools" / "agave" / "bin" / "python"
