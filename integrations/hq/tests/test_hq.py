"""`hq` as Nextflow and AiiDA call it, and with mistakes."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.conftest import Weft, until

pytestmark = pytest.mark.world(name="nextflow")
SUBMIT = ("--output-mode=quiet", "submit", "--directives=file", ".command.run")


def hq(
    *words: str, env: Mapping[str, str], cwd: Path, code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run `hq`. What ends well writes nothing on standard error."""
    done = subprocess.run(
        ["hq", *words], cwd=cwd, env=dict(env), check=False, capture_output=True, text=True
    )
    assert done.returncode == code, done
    assert bool(done.stderr) == bool(code), done
    return done


def submitted(weft: Weft, folder: Path, environment: Mapping[str, str], text: str) -> str:
    (folder / ".command.run").write_text(f"#!/bin/bash\n{text}")
    return hq(*SUBMIT, env=environment, cwd=folder).stdout.strip()


def ended(weft: Weft, number: str) -> None:
    assert weft.run("wait", f"b{number}").returncode in {0, 1}


def test_directives_are_read_as_hyperqueue_does(
    weft: Weft, environment: Mapping[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    head = f"""#HQ --name nf-it's_(1),_"Å"
#HQ --stream "{tmp_path}/a\\ b/.command.log"
#HQ --cwd "{folder}"
#HQ --resource mem=300
#HQ --cpus "1 compact"
#HQ --time-limit 90sec
  #HQ --priority 5000 --env=A="x y" --env B=c\\ d

#HQ --attribute lab=7
echo "$A,$B,$HQ_TASK_ID,$HQ_CPUS,${{WEFT_TOKEN-none}},$MINE"; echo wrong >&2
#HQ --name later
"""
    secret = {**environment, "MINE": "caller's", "WEFT_S3_KEY": "s"}
    number = submitted(weft, folder, secret, head)
    ended(weft, number)

    job = json.loads(weft.run("status", f"b{number}.j1", "--json").stdout)
    assert sorted((folder / ".command.log").read_text().splitlines()) == [
        "wrong",
        "x y,c d,0,1,none,caller's",
    ]
    assert (job["name"], job["priority"]) == ("nf-it's_(1),_Å", 1000)
    assert job["resources"]["memory"] == 300 << 20
    assert job["spec"]["timeout_s"] == 90
    assert "WEFT_S3_KEY" not in job["spec"]["inherit_env"]
    assert (
        json.loads(weft.run("status", f"b{number}", "--json").stdout)["attributes"]["lab"] == "7"
    )


@pytest.mark.parametrize(("command", "status"), [("kill -9 $$", "137"), ("kill -15 $$", "143")])
def test_the_status_of_a_killed_task_is_written(
    weft: Weft, environment: Mapping[str, str], tmp_path: Path, command: str, status: str
) -> None:
    number = submitted(weft, tmp_path, environment, f"#HQ --log {tmp_path}/log\n{command}")
    ended(weft, number)

    assert (tmp_path / ".exitcode").read_text() == status
    shown = hq("--output-mode=quiet", "job", "list", "--all", env=environment, cwd=tmp_path)
    assert f"{number} FAILED" in shown.stdout.splitlines()


def test_a_task_may_flee(weft: Weft, environment: Mapping[str, str], tmp_path: Path) -> None:
    text = f"#HQ --log {tmp_path}/log\nsleep 60 & echo left; echo 0 > .exitcode"
    ended(weft, submitted(weft, tmp_path, environment, text))

    assert (tmp_path / "log").read_text() == "left\n"


def test_states_and_cancelling(weft: Weft, environment: Mapping[str, str], tmp_path: Path) -> None:
    number = submitted(weft, tmp_path, environment, "touch began; exec sleep 100")
    until((tmp_path / "began").exists)
    info = hq("job", "info", number, "--output-mode", "json", env=environment, cwd=tmp_path)
    until(lambda: f"{number} RUNNING" in hq("job", "list", env=environment, cwd=tmp_path).stdout)
    hq("job", "cancel", f"{number},{number}", env=environment, cwd=tmp_path)
    ended(weft, number)

    assert json.loads(info.stdout)[0]["info"]["task_count"] == 1
    shown = hq("--output-mode", "quiet", "job", "list", "--all", env=environment, cwd=tmp_path)
    assert f"{number} CANCELED" in shown.stdout.splitlines()


def test_aiida(weft: Weft, environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(
        "#!/bin/bash\n#HQ --name=aiida-1\n#HQ --stdout=o --stderr=e\n"
        "echo out; echo err >&2; exec sleep 100"
    )
    made = hq("submit", "--output-mode=json", "job.sh", env=environment, cwd=tmp_path)
    number = json.loads(made.stdout)["id"]
    until(lambda: (tmp_path / "e").exists() and (tmp_path / "e").read_text() == "err\n")
    line = ("job", "list", "--filter", "waiting,running", "--output-mode=json")
    (job,) = json.loads(hq(*line, env=environment, cwd=tmp_path).stdout)
    hq("job", "cancel", str(number), env=environment, cwd=tmp_path)

    assert (job["id"], job["name"], job["task_count"]) == (number, "aiida-1", 1)
    assert sum(job["task_stats"].values()) == 1
    assert (tmp_path / "o").read_text() == "out\n"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["submit", "--queue", "nope", "true"], 1, "there is no queue 'nope'"),
        (["submit", "--resource", "fpga=1", "true"], 1, "no worker offers this"),
        (["submit", "--cpus", "999", "true"], 1, "more than any worker has"),
        (["submit", "--foo", "true"], 2, "error: unexpected argument '--foo' found"),
        (["submit", "--cpus", "many", "true"], 2, "invalid value 'many' for '--cpus'"),
        (["submit", "--time-limit", "1 fortnight", "true"], 2, "invalid value"),
        (["submit", "--nodes", "2", "true"], 2, "'--nodes' must be 1"),
        (["submit", "--name"], 2, "a value is required for '--name'"),
        (["submit"], 2, "required arguments"),
        (["submit", "missing.sh"], 2, "cannot read"),
        (["--output-mode=loud", "job", "list"], 2, "invalid value 'loud'"),
        (["job", "cancel", "99999"], 1, "does not exist"),
        (["job", "cancel", "x"], 2, "invalid value 'x'"),
        (["server", "start"], 2, "unrecognized subcommand"),
    ],
)
def test_mistakes(
    environment: Mapping[str, str], tmp_path: Path, words: list[str], code: int, told: str
) -> None:
    assert told in hq(*words, env=environment, cwd=tmp_path, code=code).stderr


@pytest.mark.parametrize(
    ("change", "told", "may_pass"),
    [
        ({"WEFT_HOME": "/nowhere"}, "no server is running here", "yes"),
        ({"WEFT_URL": "http://127.0.0.1:9", "WEFT_TOKEN": "x"}, "cannot reach the server", "yes"),
        ({"WEFT_TOKEN": "wrong"}, "not authenticated", ""),
    ],
)
def test_nextflow_tries_again_if_it_may_pass(
    environment: Mapping[str, str],
    tmp_path: Path,
    change: Mapping[str, str],
    told: str,
    may_pass: str,
) -> None:
    failed = hq("submit", "true", env={**environment, **change}, cwd=tmp_path, code=1)

    assert told in failed.stderr
    assert ("Socket timed out" in failed.stderr) is bool(may_pass)


def test_the_usual_way_does_not_need_wefts_client(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "asyncio.py").write_text("raise SystemExit('the long way')")
    env = {**environment, "PYTHONPATH": str(tmp_path)}
    (tmp_path / ".command.run").write_text("#!/bin/bash\nexit 0\n")
    hq(*SUBMIT, env=env, cwd=tmp_path)
    hq("--output-mode=quiet", "job", "list", "--all", env=env, cwd=tmp_path)


def test_a_real_hq_is_outdone(
    environment: Mapping[str, str], bin_folder: Path, tmp_path: Path
) -> None:
    real, own = tmp_path / "real", tmp_path / "own hq"
    real.mkdir()
    (real / "hq").write_text("#!/bin/sh\necho real\n")
    (real / "hq").chmod(0o755)
    path = f"{real}:{environment['PATH']}"
    program = bin_folder / "weft-hq-config"
    lines = f"eval \"$({program} '{own}')\" && eval \"$({program} '{own}')\" && hq nonsense"
    done = subprocess.run(
        ["sh", "-c", lines],
        check=False,
        capture_output=True,
        text=True,
        env={**environment, "PATH": path},
    )

    assert f"{real}/hq is another hq" in done.stderr
    assert "unrecognized subcommand 'nonsense'" in done.stderr
