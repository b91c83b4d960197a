"""A plain user's own `weft up`: the first steps, and jobs in sandboxes from end to end."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import until
from e2e.plain_user import NAME, UID, WEFT, PlainUser, plain_user

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(600)]
SANDBOX = {"WEFT_SANDBOX": "bubblewrap"}
CANARY = "canary-of-another-job"
COUNT_DEVICES = "grep -vc -e '|' -e lo: /proc/net/dev"
user = fixture_of(plain_user)


def needs_sandboxes(user: PlainUser) -> None:
    tried = user.run("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true")
    if tried.returncode != 0:
        pytest.skip(f"this machine lends plain users no sandbox: {tried.stderr.strip()}")


def test_first_steps(user: PlainUser) -> None:
    with user.up():
        said = user.weft("run", "--", "sh", "-c", "id -un; echo hello")
        job = user.weft("run", "--detach", "--", "echo", "again").strip()
        user.weft("wait", job)
        log = user.weft("logs", job)
        who = json.loads(user.weft("whoami", "--json"))
        user.weft("audit")
    files = [one for one in user.weft_home.rglob("*") if one.lstat().st_mode & 0o007]

    assert said.split() == [NAME, "hello"]
    assert log == "again\n"
    assert who["user"] == NAME
    assert [one for one in files if one.parent == user.weft_home and one.is_file()] == []
    assert {one.lstat().st_uid for one in user.weft_home.rglob("*")} == {UID}


def submit(user: PlainUser, *jobs: dict[str, object]) -> str:
    """Submit jobs that run in directories of their own; return the batch."""
    file = user.home / "jobs.json"
    file.unlink(missing_ok=True)
    file.write_text(json.dumps({"jobs": jobs}))
    file.chmod(0o644)
    return user.weft("submit", str(file)).strip()


def look_at(user: PlainUser, *paths: Path) -> str:
    """Return a script that says what it sees and changes of what is not its own."""
    listed = "".join(f"{one}\n" for one in paths)
    outside = [f"{one}/made" for one in (user.shared, "/usr", "/etc", "")]
    return "\n".join(
        (
            "id -u; ls -A /tmp | wc -l; touch /tmp/mine here && ls /tmp",
            *(f"touch {one} 2>/dev/null && echo wrote {one}" for one in outside),
            'while read -r one; do [ -f "$one" -o -S "$one" ] && echo saw $one; done <<\'E\'',
            f"{listed}E",
            f'find {user.home} ! -type d ! -path "$PWD/*"',
            f"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep {CANARY[:-1]}",
            f"touch {user.home}/made {user.weft_home}/made",  # where it sees an empty directory
            "ls -d /proc/[0-9]* | wc -l",
            f"devices=$({COUNT_DEVICES}); echo devices $devices",
        )
    )


def shell(script: str, **more: object) -> dict[str, object]:
    return {"command": ["sh", "-c", script], **more}


SPEAK = 'echo 40 epoch 4 > "$WEFT_PROGRESS"; echo x > "$WEFT_NOTES/loss.txt"'


def test_sandboxed_job_has_its_own_and_sees_nothing_else(user: PlainUser) -> None:
    needs_sandboxes(user)
    with user.up(**SANDBOX):
        other_script = (
            f'echo {CANARY} > mine; echo {CANARY} > "$WEFT_CHECKPOINT_DIR/kept"; '
            f"echo {CANARY} > /tmp/theirs; exec sleep 600"
        )
        other = submit(user, shell(other_script, env={"A": CANARY}))
        until(lambda: len(holding(user, CANARY)) == 2)
        there = [one for one in user.weft_home.rglob("*") if one.is_file() or one.is_socket()]
        sockets = [one for one in there if one.is_socket()]
        look = look_at(user, *there)
        batch = submit(user, shell(look), shell(look, network=False), shell(SPEAK))
        for number in (1, 2, 3):
            user.run(WEFT, "wait", f"{batch}.j{number}")
        seen = [user.weft("logs", f"{batch}.j{number}").split("\n") for number in (1, 2)]
        states = [
            json.loads(user.weft("status", f"{batch}.j{number}", "--json"))["state"]
            for number in (1, 2)
        ]
        spoke = json.loads(user.weft("status", f"{batch}.j3", "--json"))
        user.weft("cancel", other)
        user.run(WEFT, "wait", other)
        user.weft("audit")

    assert (spoke["state"], spoke["progress"]["text"]) == ("success", "epoch 4")
    assert spoke["notes"] == ["loss"]
    assert {"secrets.json", "client.json", "secret-keys.json"} <= {one.name for one in there}
    assert sockets
    assert states == ["success", "success"]
    for number, lines, devices in zip((1, 2), seen, (1, 0), strict=True):
        assert len(lines) == 7, lines
        uid, in_tmp, made, own, n_processes, told, _ = lines
        assert own.endswith(f"/progress/weft-{batch}-j{number}-a1")
        assert (uid, in_tmp, made) == (str(UID), "0", "mine")
        assert int(n_processes) < 8
        assert min(int(told.removeprefix("devices ")), 1) == devices
    assert list(user.home.rglob("made")) == []


def holding(user: PlainUser, text: str) -> Sequence[Path]:
    """Return files of jobs with this text."""
    places = [user.weft_home / one for one in ("scratch", "checkpoints")]
    found = [one for place in places for one in place.rglob("*") if one.is_file()]
    return [one for one in found if text in one.read_text()]


def test_without_user_namespaces_nothing_runs_unprotected(user: PlainUser) -> None:
    """`bwrap` fails, as it does where plain users may make no namespaces."""
    programs = user.home / "programs"
    programs.mkdir(mode=0o755)
    (programs / "bwrap").write_text("#!/bin/sh\necho 'bwrap: no permissions' >&2; exit 1\n")
    (programs / "bwrap").chmod(0o755)
    path = {"PATH": f"{programs}:/usr/bin:/bin"}
    with user.up(**path):
        job = submit(user, shell("echo ran", network=False)) + ".j1"
        user.run(WEFT, "wait", job)
        offline = json.loads(user.weft("status", job, "--json"))
        log = user.weft("logs", job)
    refused = user.run(WEFT, "up", "--port", "0", "--detach", env=SANDBOX | path)
    user.run(WEFT, "down")

    assert (offline["state"], log) == ("error", "")
    assert "cannot keep it from the network" in offline["message"]
    assert "no permissions" in offline["message"]
    assert refused.returncode != 0
    assert "no permissions" in refused.stderr


def test_what_is_required_shows_nothing_else(user: PlainUser) -> None:
    """A secret may have the name of the variable that names the packages."""
    needs_sandboxes(user)
    (user.shared / "value").write_text(str(user.weft_home))
    (user.shared / "value").chmod(0o644)
    with user.up(**SANDBOX):
        user.weft("secret", "set", "home", "--file", str(user.shared / "value"))
        (user.shared / "none.txt").write_text("")
        (user.shared / "none.txt").chmod(0o644)
        options = ("--requirements", str(user.shared / "none.txt"), "--secret", "home=VIRTUAL_ENV")
        script = f'command -v python; echo "$VIRTUAL_ENV"; ls -A {user.weft_home}'
        said = user.weft("run", *options, "--", "sh", "-c", script).split()
    assert said[0].endswith("/env/bin/python")
    assert (said[1], {*said[2:]}) == (str(user.weft_home), {"checkpoints", "scratch"})
