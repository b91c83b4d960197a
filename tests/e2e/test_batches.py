"""submit, ls, status, wait, logs, cancel, top, doctor, audit, db."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json, lines

pytestmark = pytest.mark.slow

PIPELINE = """
name: pipeline
jobs:
  - {name: sum, command: [sh, -c, "echo sum"], parents: [count a, count b], group: /merge}
  - name: count a
    command: [sh, -c, "echo a; echo warn >&2; echo 50 half > $WEFT_PROGRESS"]
    group: /count
  - {name: count b, command: [sh, -c, "echo b"], group: /count}
"""


def submit(weft: Weft, tmp_path: Path, text: str = PIPELINE, suffix: str = ".yaml") -> str:
    file = tmp_path / f"pipeline{suffix}"
    file.write_text(text)
    done = weft.run("submit", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def test_wait_for_a_batch_without_jobs_says_so(weft: Weft) -> None:
    batch = weft.submit()
    waited = weft.run("wait", batch)

    assert waited.returncode == 0
    assert f"{batch}: success; it has no jobs" in waited.stderr.decode()


def test_jobs_of_a_file_run_where_the_file_is(weft: Weft, tmp_path: Path) -> None:
    """Those of standard input in the caller's directory; a null is an empty one."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "raw.txt").write_text("raw\n")
    text = """
    jobs:
      - {name: read, script: cat data/raw.txt > made.txt}
      - {name: use, script: cat made.txt; ls -A made.txt, parents: [read]}
      - {name: own, script: ls -A, cwd: null}
    """
    batch = submit(weft, tmp_path, text)
    piped = weft.told("submit", "-", cwd=tmp_path, stdin=b"jobs: [{script: cat data/raw.txt}]")
    weft.told("wait", batch, piped.decode().strip())
    printed = [weft.told("logs", f"{batch}.j{n}") for n in (2, 3)]

    assert printed == [b"raw\nmade.txt\n", b""]
    assert weft.told("logs", f"{piped.decode().strip()}.j1") == b"raw\n"


def test_a_pipeline_from_submission_to_logs(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    waited = weft.run("wait", batch)
    status = as_json(weft, "status", batch)
    listed = as_json(weft, "ls")

    assert waited.returncode == 0
    assert waited.stdout == b""
    assert f"{batch}: success; 3 succeeded" in waited.stderr.decode()
    assert (status["state"], status["n_jobs"], status["n_succeeded"]) == ("success", 3, 3)
    assert batch in [f"b{one['id']}" for one in listed]
    logs = weft.run("logs", f"{batch}.j1")
    assert (logs.stdout, logs.stderr) == (b"a\n", b"warn\n")
    assert weft.run("logs", "--stream", "stderr", f"{batch}.j1").stdout == b""
    assert weft.run("logs", "-f", f"{batch}.j3").stdout == b"sum\n"
    job = as_json(weft, "status", f"{batch}.j3")
    assert job["parents"] == [1, 2]
    assert [change["to"] for change in job["history"]][-1] == "success"
    group = as_json(weft, "status", f"{batch}/count")
    assert group["n_succeeded"] == 2
    shown = weft.run("status", f"{batch}.j1").stdout.decode()
    assert "count a" in shown
    assert "50 %, half (" in shown
    assert "success" in shown
    assert "3 succeeded" in weft.run("status", batch).stdout.decode()
    assert batch in weft.run("ls").stdout.decode()
    assert batch in weft.run("top").stdout.decode()


ARRAY = """
jobs:
  - {name: sum, command: [sh, -c, "exit 3"], parents: [part]}
  - name: part
    command: [sh, -c, 'echo "$0 $WEFT_INDEX $NAME"', "${WEFT_INDEX}"]
    env: {NAME: "n$WEFT_INDEX"}
    count: 5
    index_from: 10
"""


def test_an_array_from_submission_to_logs(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, ARRAY)
    waited = weft.run("wait", batch)
    part = weft.run("status", f"{batch}.j3").stdout.decode()

    assert waited.returncode == 1
    logs = [weft.run("logs", f"{batch}.j{number}").stdout for number in range(1, 6)]
    assert logs == [f"{index} {index} n{index}\n".encode() for index in range(10, 15)]
    assert "part[12]" in part
    assert as_json(weft, "status", f"{batch}.j6")["parents"] == [1, 2, 3, 4, 5]
    weft.told("audit")


def test_a_failed_batch_is_exit_code_1_and_names_its_jobs(weft: Weft, tmp_path: Path) -> None:
    text = "jobs: [{name: bad one, command: [sh, -c, exit 5]}, {command: [nothing-there]}]"
    batch = submit(weft, tmp_path, text)
    waited = weft.run("wait", batch)
    status = weft.run("status", batch).stdout.decode()

    assert waited.returncode == 1
    assert "1 failed, 1 errored" in waited.stderr.decode()
    assert "bad one" in status
    assert "exit code 5" in status
    assert "program not found" in status


def test_a_mistake_in_a_large_document_names_its_place(weft: Weft, tmp_path: Path) -> None:
    jobs = "\n".join("  - {command: ['true']}" for _ in range(6000))
    file = tmp_path / "p.yaml"
    file.write_text(f"name: broken\njobs:\n{jobs}\n  - {{command: []}}\n")
    done = weft.run("submit", str(file), "--json")

    assert done.returncode == 2
    assert json.loads(done.stderr)["errors"][0]["pointer"] == "/jobs/6000/command"
    assert all(batch["cancelled"] for batch in as_json(weft, "ls", "--name", "broken"))


def test_mistakes_in_documents_are_usage_errors(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    for text, code in [
        ("jobs: [{command: [true]}]", "API.WRONG_TYPE"),
        ("jobs: [{name: a, parents: [b]}, {name: b, parents: [a]}]", "API.PARENT_CYCLE"),
        ("jobs: [{parents: [nobody]}]", "API.PARENT_NOT_FOUND"),
        ("jobs: [{kommand: [x]}]", "API.UNKNOWN_FIELD"),
        ("jobs: [", "CLI.UNREADABLE_DOCUMENT"),
    ]:
        file.write_text(text)
        done = weft.run("submit", str(file), "--json")

        assert (done.returncode, done.stdout) == (2, b"")
        assert json.loads(done.stderr)["code"] == code


def test_cancel_a_group_a_job_a_batch(weft: Weft, tmp_path: Path) -> None:
    text = """
jobs:
  - {command: [sleep, "1000"], group: /a, resources: {cpu: 0.1, memory: 16Mi}}
  - {command: [sleep, "1000"], group: /b, resources: {cpu: 0.1, memory: 16Mi}}
  - {command: [sleep, "1000"], resources: {cpu: 0.1, memory: 16Mi}}
"""
    batch = submit(weft, tmp_path, text)
    assert weft.run("cancel", f"{batch}/a").returncode == 0
    assert weft.run("wait", f"{batch}.j1").returncode == 1
    assert as_json(weft, "status", batch)["n_cancelled"] == 1
    assert weft.run("cancel", f"{batch}.j2").returncode == 0
    assert weft.run("wait", f"{batch}.j2").returncode == 1
    assert weft.run("cancel", batch).returncode == 0
    waited = weft.run("wait", batch)

    assert waited.returncode == 1
    assert "3 cancelled" in waited.stderr.decode()


def test_cancel_of_what_had_ended_changes_no_state(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    weft.run("wait", batch)
    cancelled = [weft.run("cancel", f"{batch}{part}") for part in (".j1", "/merge", "")]
    status = as_json(weft, "status", batch)
    answer = as_json(weft, "cancel", batch)

    closed = "nothing to cancel; it is closed to new jobs"
    assert [done.stderr.decode() for done in cancelled] == [
        f"weft: {batch}.j1 had ended (success): nothing to cancel\n",
        f"weft: {batch}/merge had ended: {closed}\n",
        f"weft: {batch} had ended: {closed}\n",
    ]
    assert (status["state"], status["cancelled"]) == ("success", True)
    assert (answer["was_cancelled"], answer["had_ended"]) == (True, True)
    assert "success (closed to new jobs)" in weft.run("status", batch).stdout.decode()
    assert weft.run("wait", batch).returncode == 0
    assert weft.run("wait", f"{batch}/merge").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [["status", "b999999"], ["wait", "b999999"], ["logs", "b999999.j1"], ["cancel", "b999999"]],
)
def test_what_does_not_exist_is_exit_code_2(weft: Weft, arguments: list[str]) -> None:
    done = weft.run(*arguments)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"b999999 does not exist" in done.stderr


@pytest.mark.parametrize(
    "command", [["wait"], ["cancel"], ["hold"], ["release"], ["delete", "--yes"]]
)
def test_one_missing_of_several_targets_changes_nothing(
    weft: Weft, tmp_path: Path, command: list[str]
) -> None:
    """A `wait` that looked at one after the other would not end."""
    batch = submit(weft, tmp_path, "jobs: [{command: [sleep, '1000']}]")
    done = weft.run(*command, batch, "b999999999")

    assert (done.returncode, b"b999999999" in done.stderr) == (2, True), done.stderr
    found = as_json(weft, "status", batch)
    assert not found["cancelled"]
    assert not found["held"]
    weft.run("cancel", batch)


def test_a_wrong_token_is_exit_code_4(weft: Weft) -> None:
    url = json.loads((weft.home / "client.json").read_text())["url"]
    done = weft.run("ls", env={"WEFT_URL": url, "WEFT_TOKEN": "wrong"})

    assert done.returncode == 4


def test_names_cannot_steer_the_terminal(weft: Weft) -> None:
    done = weft.run("each", "--name", "bell", "--", "false", stdin=b"a\x1b[2Jb\n")

    assert b"\x1b" not in done.stderr


def test_doctor_and_audit_are_content(weft: Weft) -> None:
    doctor = weft.run("doctor")
    audit = weft.run("audit")

    assert doctor.returncode == 0, doctor.stdout
    assert b"answers in" in doctor.stdout
    assert audit.returncode == 0, audit.stdout
    n_checks = len(lines(audit.stdout)) - 1
    assert lines(audit.stderr) == [f"weft: {n_checks} checks, no differences"]


@pytest.mark.heavy
def test_db_status_and_migrate(weft: Weft) -> None:
    assert as_json(weft, "db", "status")["pending"] in ([], 0)
    assert as_json(weft, "db", "migrate") == {"applied": []}


def test_logs_as_json_follow_a_job_to_its_end(weft: Weft) -> None:
    batch = weft.submit({"script": "echo one; sleep 1; echo two; echo err >&2"})

    assert as_json(weft, "logs", "-f", f"{batch}.j1")["stdout"] == "one\ntwo\n"
    assert "stdout" not in as_json(weft, "logs", "--stream", "stderr", f"{batch}.j1")


FAILING = """
jobs:
  - {command: [sh, -c, "echo one; printf half; echo no >&2; exit 3"], group: /g}
  - {command: [sh, -c, "exit 3"], group: /g, name: boom}
  - {command: [no-such-program], group: /g}
  - {command: [echo, never], group: /g, parents: [boom]}
  - {command: [echo, fine]}
"""


def test_logs_of_many_jobs_and_why_they_failed(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, FAILING)
    weft.run("wait", batch)
    failed = weft.run("logs", batch, "--failed")
    found = weft.run("logs", batch, "--q", "exit_code = 3", "--json")
    group = weft.run("logs", f"{batch}/g", "--stream", "stdout")
    shown = {where: weft.run("status", where).stdout.decode() for where in (batch, f"{batch}/g")}

    half = f"{batch}.j1: one\n{batch}.j1: half\n".encode()
    assert failed.stdout == group.stdout == half
    assert f"{batch}.j1: no\n" in failed.stderr.decode()
    assert f"{batch}.j2 wrote nothing: exit code 3\n" in failed.stderr.decode()
    assert f"{batch}.j3 wrote nothing: program not found" in failed.stderr.decode()
    assert "1 of 4 jobs never started" in group.stderr.decode()
    assert [(one["job_id"], one["stdout"]) for one in json.loads(found.stdout)] == [
        (1, "one\nhalf"),
        (2, ""),
    ]
    for text in shown.values():
        assert "exit code 3: 2, program not found: 1" in text
    assert as_json(weft, "status", batch)["reasons"] == {
        "exit code 3": 2,
        "program not found": 1,
    }


def test_logs_of_a_group_are_followed_until_all_have_ended(weft: Weft, tmp_path: Path) -> None:
    text = f"""jobs:
  - command: [sh, -c, "echo begun; until test -e {tmp_path}/go; do sleep 0.1; done; printf done"]
    group: /g
    name: first
  - {{command: [sh, -c, "echo keep; echo drop; exit 3"], group: /g, parents: [first],
     always_run: true}}
  - {{command: [echo, other]}}
"""
    batch = submit(weft, tmp_path, text)
    with weft.started("logs", "-f", f"{batch}/g") as follower:
        first = follower.stdout.readline()
        (tmp_path / "go").touch()
        rest = follower.stdout.read()
        assert follower.wait(60) == 0
    chosen = weft.run("logs", "-f", batch, "--grep", "^(keep|oth)")
    documents = json.loads(weft.run("logs", "-f", batch, "--grep", "keep", "--json").stdout)
    wrong = weft.run("logs", batch, "--grep", "(")
    found = weft.run("logs", batch, "--find", "e")
    of_group = as_json(weft, "logs", f"{batch}/g", "--find", "ee")
    of_job = weft.run("logs", f"{batch}.j2", "--find", "(e", "--stream", "stdout")
    both = weft.run("logs", batch, "--find", "e", "--grep", "e")

    assert found.stdout.decode().splitlines() == [
        f"{batch}.j1: begun",
        f"{batch}.j1: done",
        f"{batch}.j2: keep",
        f"{batch}.j3: other",
    ]
    assert [(one["job_id"], one["number"], one["line"]) for one in of_group] == [(2, 1, "keep")]
    assert (of_job.stdout, of_job.returncode) == (b"", 0)
    assert b"the value of --find is wrong" in both.stderr
    assert first == f"{batch}.j1: begun\n".encode()
    assert rest == f"{batch}.j1: done\n{batch}.j2: keep\n{batch}.j2: drop\n".encode()
    assert sorted(chosen.stdout.decode().split("\n")) == [
        "",
        f"{batch}.j2: keep",
        f"{batch}.j3: other",
    ]
    assert [(one["job_id"], one["stdout"]) for one in documents] == [(2, "keep")]
    assert b"the value of --grep is wrong" in wrong.stderr


def test_logs_that_are_not_there_are_an_error(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, FAILING)
    weft.run("wait", batch)
    later = weft.run("logs", f"{batch}.j1", "--attempt", "5")
    never = weft.run("logs", f"{batch}.j4")
    followed = weft.run("logs", "-f", f"{batch}.j1", "--attempt", "5")
    mixed = [
        weft.run("logs", *words, "--json")
        for words in ([f"{batch}.j1", "--failed"], [batch, "--attempt", "1"])
    ]

    for done in (later, followed):
        assert done.returncode == 2
        assert "There is no attempt 5; the last one is 1." in done.stderr.decode()
    assert never.returncode == 2
    assert "It never started: cancelled" in never.stderr.decode()
    for done in mixed:
        assert done.returncode == 2
        assert "CLI.ONE_JOB_ONLY" in done.stderr.decode()


def test_an_array_over_the_lines_of_a_file(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_text("first\nsecond one\n")
    text = """jobs:
  - {name: each, command: [echo, "<{value}>"], values_file: samples.txt}
  - {command: [echo, done], parents: [each]}
"""
    batch = submit(weft, tmp_path, text)

    assert weft.run("wait", batch).returncode == 0
    assert [weft.run("logs", f"{batch}.j{n}").stdout for n in (1, 2, 3)] == [
        b"<first>\n",
        b"<second one>\n",
        b"done\n",
    ]
    (tmp_path / "wrong.yaml").write_text("jobs:\n  - {name: each, values: [a, 4]}\n")
    wrong = weft.run("submit", str(tmp_path / "wrong.yaml"))
    assert wrong.returncode == 2
    assert b'4 is a number, and text is needed: write "4"' in wrong.stderr
