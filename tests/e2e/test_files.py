"""Files come to jobs and are kept when they end, as a user sees it."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from e2e.conftest import Weft, until
from weft.cli.commands.files import FileInTheWay
from weft.core.errors import FileElsewhere, FileNotFound

pytestmark = pytest.mark.slow


def submit(weft: Weft, *jobs: dict[str, Any]) -> str:
    document = json.dumps({"name": "files", "jobs": jobs}).encode()
    return weft.told("submit", "-", stdin=document).decode().strip()


def ended(weft: Weft, batch: str) -> list[dict[str, Any]]:
    weft.run("wait", batch)
    listed = weft.told("jobs", batch, "--json")
    return sorted(json.loads(listed), key=lambda one: int(one["job_id"]))


def files_of(weft: Weft, job: str) -> dict[str, dict[str, Any]]:
    return {one["path"]: one for one in json.loads(weft.told("files", "ls", job, "--json"))}


def test_a_child_gets_what_its_parent_left(weft: Weft, tmp_path: Path) -> None:
    """By the parent's name and by its number; with its path in a variable."""
    batch = submit(
        weft,
        {
            "name": "make",
            "script": "mkdir -p out/deep; echo one > out/a.txt; echo two > out/deep/b.txt; "
            "echo no > c",
            "outputs": [{"from": "out/**"}, {"from": "out/a.txt", "to": "named"}],
        },
        {
            "name": "use",
            "script": 'cat "$A" in/b.txt; pwd; ls',
            "parents": ["make"],
            "inputs": [
                {"from": "weft://make/out/a.txt", "env": "A"},
                {"from": "weft://j1/out/deep/b.txt", "to": "in/"},
                {"from": "weft://make/nothing", "optional": True},
            ],
        },
    )
    jobs = ended(weft, batch)
    assert [one["state"] for one in jobs] == ["success", "success"], jobs
    kept = files_of(weft, f"{batch}.j1")
    assert sorted(kept) == ["named", "out/a.txt", "out/deep/b.txt"]
    assert kept["named"]["sha256"] == hashlib.sha256(b"one\n").hexdigest()
    assert kept["named"]["bytes"] == 4
    said = weft.run("logs", f"{batch}.j2").stdout.decode()
    assert said.startswith("one\ntwo\n")
    assert said.endswith("a.txt\nin\n")
    printed = weft.run("files", "cat", f"{batch}.j1", "out/deep/b.txt")
    assert printed.stdout == b"two\n"
    weft.told("files", "get", f"{batch}.j1", "--to", str(tmp_path / "here"))
    assert (tmp_path / "here" / "out" / "deep" / "b.txt").read_bytes() == b"two\n"
    every = weft.run("files", "get", batch, "--to", str(tmp_path / "all"))
    assert b"3 files are in" in every.stderr
    assert weft.run("files", "ls", batch).stdout.count(f"{batch}.j".encode()) == 3
    assert (tmp_path / "all" / "j1" / "out" / "deep" / "b.txt").read_bytes() == b"two\n"
    again = weft.run("files", "get", f"{batch}.j1", "named", "--to", str(tmp_path / "here"))
    assert (again.returncode, FileInTheWay.code) == (4, "CLI.FILE_IN_THE_WAY")
    assert b"there already" in again.stderr
    none = weft.run("files", "cat", f"{batch}.j1", "none")
    assert (none.returncode, FileNotFound.code) == (2, "API.FILE_NOT_FOUND")
    assert b"has no file 'none'" in none.stderr
    for file in (weft.home / "files").glob(f"*/{batch}/*"):
        file.rename(file.with_suffix(".away"))
    away = weft.run("files", "cat", f"{batch}.j1", "named")
    assert (away.returncode, FileElsewhere.code) == (4, "API.FILE_ELSEWHERE")
    assert b"cannot read the files" in away.stderr
    assert b"or somebody has removed them: it is not kept on this host" in away.stderr
    assert not any((weft.home / "scratch").glob("*/files/*"))


def test_what_somebody_has_changed_is_not_given(weft: Weft, tmp_path: Path) -> None:
    """At equal size: of a large file the end does not come, and so no file."""
    script = "echo one > a; head -c 20000000 /dev/zero > b"
    job = submit(weft, {"script": script, "outputs": [{"from": "a"}, {"from": "b"}]}) + ".j1"
    ended(weft, job[:-3])
    whole = weft.told("files", "cat", job, "b")
    for file in (weft.home / "files").glob(f"*/{job[:-3]}/*"):
        file.write_bytes(b"x" + file.read_bytes()[1:])
    small, large = (weft.run("files", "cat", job, path) for path in "ab")
    got = weft.run("files", "get", job, "b", "--to", str(tmp_path / "got"))

    assert b"its bytes are not those that were expected" in small.stderr
    assert b"the end of 'b' did not come" in large.stderr
    assert (len(whole), len(large.stdout) < len(whole)) == (20_000_000, True)
    assert {one.returncode for one in (small, large, got)} == {FileElsewhere.exit_code}
    assert not [*(tmp_path / "got").iterdir()]


def test_the_same_is_not_run_twice(weft: Weft) -> None:
    """Until its input is another, or somebody says so; what ran says so everywhere."""
    make = {"name": "make", "script": "date +%N > x", "outputs": [{"from": "x"}]}
    use = {
        "script": "cat x x > y",
        "parents": ["make"],
        "outputs": [{"from": "y"}],
        "inputs": [{"from": "weft://make/x"}],
    }
    document = json.dumps({"jobs": [make, use]}).encode()

    def again(*options: str) -> tuple[str, bytes]:
        batch = weft.told("submit", "-", *options, stdin=document).decode().strip()
        assert [one["state"] for one in ended(weft, batch)] == ["success", "success"]
        return batch, weft.run("files", "cat", f"{batch}.j2", "y").stdout

    first, made = again("--cache")
    second, same = again("--cache")
    assert same == made
    shown = weft.told("status", f"{second}.j2").decode()
    assert f"succeeded as {first}.j2, whose outputs it has" in shown
    assert f"as {first}.j2" in weft.told("why", f"{second}.j2").decode()
    assert again("--no-cache")[1] != made


def test_output_is_written_as_plain_files(weft: Weft, tmp_path: Path) -> None:
    """Attempts apart, once more over what is there, and never through a link."""
    fails = {"script": "echo ${WEFT_ATTEMPT%@*}; echo err >&2; exit 3", "max_attempts": 2}
    batch = submit(weft, fails, {"script": "printf 'a\\0b'"})
    ended(weft, batch)
    for target in (batch, batch, f"{batch}.j2"):
        written = weft.run("logs", target, "--to", str(tmp_path))
        assert (written.returncode, b" files are in " in written.stderr) == (0, True)
    top = tmp_path / batch
    assert {str(one.relative_to(top)): one.read_bytes() for one in top.rglob("*.*")} == {
        "j1/a1/stdout.log": f"{batch}.j1.1\n".encode(),
        "j1/a1/stderr.log": b"err\n",
        "j1/a2/stdout.log": f"{batch}.j1.2\n".encode(),
        "j1/a2/stderr.log": b"err\n",
        "j2/a1/stdout.log": b"a\0b",
        "j2/a1/stderr.log": b"",
    }
    missing = weft.run("logs", f"{batch}.j1", "--to", str(tmp_path), "--attempt", "9")
    assert (missing.returncode, b"none of the jobs has written" in missing.stderr) == (2, True)
    assert b"There is no attempt 9" in missing.stderr
    (top / "j1").rename(tmp_path / "away")
    (top / "j1").symlink_to(tmp_path / "away")
    refused = weft.run("logs", batch, "--to", str(tmp_path), "--failed", "--stream", "stdout")
    assert (refused.returncode, b"is there already" in refused.stderr) == (4, True)


def test_what_a_running_job_has_is_listed_and_read(weft: Weft, tmp_path: Path) -> None:
    """Without checksums until it has ended, and only of an attempt that runs."""
    go = tmp_path / "go"
    script = f"echo one > b.txt; mkdir d; echo > d/a; until [ -e {go} ]; do sleep 0.1; done"
    job = submit(weft, {"script": script, "outputs": [{"from": "b.txt"}]}) + ".j1"
    until(lambda: {"b.txt", "d/a"} <= files_of(weft, job).keys())
    seen = files_of(weft, job)["b.txt"]
    assert (seen["bytes"], seen["sha256"], seen["kept_at"]) == (4, None, None)
    assert seen["changed_at"]
    assert b"d/a" in weft.run("files", "ls", job, "--attempt", "1").stdout
    assert b"d/a" not in weft.run("files", "ls", job, "--attempt", "2").stdout
    assert weft.run("files", "cat", job, "b.txt").stdout == b"one\n"
    assert weft.run("files", "get", job, "d/a", "--to", str(tmp_path)).returncode == 0
    assert (tmp_path / "d" / "a").read_text() == "\n"
    for path, *attempt in (("b.txt", "--attempt", "2"), ("go",), ("d",)):
        missing = weft.run("files", "cat", job, path, *attempt)
        assert b"has no file" in missing.stderr, path
    go.touch()
    ended(weft, job.partition(".")[0])
    assert files_of(weft, job).keys() == {"b.txt"}
    assert len(files_of(weft, job)["b.txt"]["sha256"]) == 64


def test_what_is_missing_is_named(weft: Weft) -> None:
    batch = submit(
        weft,
        {"script": "true", "outputs": [{"from": "gone.txt"}]},
        {"script": "true", "inputs": [{"from": "weft://j1/gone.txt"}]},
        {"script": "ln -s /etc/passwd x", "outputs": [{"from": "x"}]},
        {"script": "mkfifo x", "outputs": [{"from": "*"}]},
        {"script": "true", "inputs": [{"from": "file:///etc/passwd"}]},
    )
    jobs = ended(weft, batch)
    assert {one["state"] for one in jobs} == {"failed"}
    assert {one["reason"] for one in jobs} == {"files"}
    messages = [one["message"] for one in jobs]
    assert messages[0] == "its output 'gone.txt' is missing"
    assert "its input weft://j1/gone.txt" in messages[1]
    assert messages[2] == messages[3] == "its output 'x' is no plain file"
    assert "input_paths" in messages[4]
    assert weft.run("files", "ls", f"{batch}.j3", "--json").stdout.strip() == b"[]"


def test_why_says_how_far_the_files_of_a_job_are(weft: Weft) -> None:
    go = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * (1000 if self.path == "/here" else 100))
            if self.path != "/here":
                go.wait(60)
                self.wfile.write(b"x" * 900)

    server = ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        at = f"http://127.0.0.2:{server.server_port}/"
        inputs = [{"from": at + name} for name in ("here", "slow", "slower")]
        job = submit(weft, {"script": "ls", "inputs": inputs}) + ".j1"
        until(lambda: b": it fetches 2 of 3 inputs, 40 %\n" in weft.run("why", job).stdout)
        go.set()
        (done,) = ended(weft, job.partition(".")[0])
    finally:
        go.set()
        server.shutdown()
        server.server_close()
    assert done["state"] == "success"
    history = json.loads(weft.run("status", job, "--json").stdout)["history"]
    (said,) = [one["message"] for one in history if one["phase"] == "staging_inputs"]
    assert said == "fetches 2 of 3 inputs, 40 %"


def test_outputs_are_kept_after_the_ends_they_name(weft: Weft) -> None:
    outputs = [
        {"from": "a"},
        {"from": "b", "when": "failure"},
        {"from": "c", "when": "always"},
        {"from": "d", "when": "cancelled"},
    ]
    made = "head -c 4000000 /dev/zero > a; touch b c d; "
    batch = submit(
        weft,
        {"script": f"{made} true", "outputs": outputs},
        {"script": f"{made} exit 3", "outputs": outputs},
    )
    jobs = ended(weft, batch)
    assert [one["state"] for one in jobs] == ["success", "failed"]
    assert sorted(files_of(weft, f"{batch}.j1")) == ["a", "c"]
    assert sorted(files_of(weft, f"{batch}.j2")) == ["b", "c"]
    status = json.loads(weft.run("status", f"{batch}.j1", "--json").stdout)
    assert status["times"]["staging_ms"] >= 0
    assert status["times"]["storing_ms"] > 0


def test_wrong_documents_are_refused(weft: Weft) -> None:
    for field, value in (
        ("inputs", [{"from": "weft://j1/../x"}]),
        ("inputs", [{"from": "file:///a", "to": "/etc/x"}]),
        ("inputs", [{"from": "gopher://a/b"}]),
        ("outputs", [{"from": "../*"}]),
        ("outputs", [{"from": "*", "to": "x"}]),
    ):
        document = json.dumps({"jobs": [{"script": "true", field: value}]}).encode()
        done = weft.run("submit", "-", stdin=document)
        assert done.returncode == 2, (value, done.stderr)
        assert f"/jobs/0/{field}/0".encode() in done.stderr or field.encode() in done.stderr


def test_audit_is_clean(weft: Weft) -> None:
    weft.told("audit", timeout_s=120)
