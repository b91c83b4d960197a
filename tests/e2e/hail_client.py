"""Hail's own client in a process of its own, which knows weft by its environment only."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CLIENT_S = 120.0
_BEFORE = """
import json, sys
from hailtop.batch_client import client, aioclient
from hailtop.batch_client.client import BatchClient

def say(document):
    with open(sys.argv[1], 'w') as file:
        json.dump(document, file)

bc = BatchClient('default')
"""
PIPELINE = """
import hailtop.batch as hb

backend = hb.ServiceBackend(billing_project='default', remote_tmpdir='gs://weft/tmp',
                            gcs_bucket_allow_list=['weft'])
backend.remote_tmpdir = SHARED + '/tmp'  # what it is made with begins with gs:// or https://
b = hb.Batch(backend=backend, name='files')
words = b.read_input(SHARED + '/words.txt')
sort = b.new_job(name='sort')
sort.command(f'sort {words} > {sort.ofile}')
count = b.new_job(name='count')
count.command(MORE + f'uniq -c {sort.ofile} > {count.ofile}')
last = b.new_bash_job(name='last', attributes={'k': 'v'})
last.depends_on(sort)
last.cpu(0.25)
last.command('find /io -type f && exit 3')
b.write_output(count.ofile, OUT + 'counts.txt')
b.write_output(words, OUT + 'words.txt')
handle = b.run(open=False, disable_progress_bar=True)
jobs = {j['name']: j for j in handle.jobs()}
say({'id': handle.id, 'batch': handle.status(), 'code': jobs['last']['exit_code'],
     'states': {name: j['state'] for name, j in jobs.items()},
     'log': handle.get_job_log(jobs['last']['job_id'])['main']})
"""
"""Its job `count` gets what `sort` has left, `last` finds nothing; the client adds two jobs."""
DONE = dict.fromkeys(("write_external_inputs", "sort", "count", "remove_tmpdir"), "Success")
STATES = {**DONE, "last": "Failed"}


@dataclass(frozen=True)
class HailClient:
    """Runs programs that use `hailtop`."""

    python: Path
    directory: Path
    variables: Mapping[str, str]
    """What `weft hail-config` wrote."""

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, **self.variables, "HOME": str(self.directory), "HAIL_DONT_RETRY_500": "1"}

    def run(self, program: str, more: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 (JSON)
        """Run a program after the client was made as `bc`; return what it said with `say`."""
        result = self.directory / "said.json"
        done = subprocess.run(
            [self.python, "-c", _BEFORE + program, result],
            check=False,
            capture_output=True,
            env={**self.environment(), **(more or {})},
            timeout=CLIENT_S,
            cwd=self.directory,
        )
        assert done.returncode == 0, done.stderr.decode()[-4000:]
        return json.loads(result.read_text())


def hail_python() -> Path:
    """Return the Python that has the client; the project's script installs it once."""
    subprocess.run([ROOT / "tools" / "environment.sh", "hail"], check=True, cwd=ROOT)
    return ROOT / ".tools" / "hail" / "bin" / "python"
