"""Jobs in containers, on a real registry: what they see, how they end, and what is kept."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from contexts import fixture_of
from e2e.conftest import until
from e2e.plain_user import UID, WEFT, PlainUser, plain_user
from e2e.registry import Registry, free_port, registry, trust
from e2e.terminal import on_terminal, script_of
from e2e.test_plain_user import submit
from e2e.tmux import program
from weft import Client

pytestmark = [
    pytest.mark.slow,
    pytest.mark.heavy,
    pytest.mark.engine(name="container"),
    pytest.mark.timeout(600),
]


@pytest.fixture
def user() -> Iterator[PlainUser]:
    program("bwrap", "bubblewrap")
    with plain_user() as found:
        tried = found.run("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true")
        if tried.returncode != 0:
            pytest.skip(f"this machine lends plain users no containers: {tried.stderr.strip()}")
        yield found


images = fixture_of(registry)


SAYS = """
echo '{"type": "FSC"}' >>$WEFT_PRODUCTS; ls /weft/products
echo 40 epoch 4 >$WEFT_PROGRESS; echo x >/weft/notes/loss.txt
"""


def job(
    image: str, script: str, container: dict[str, Any] | None = None, **more: object
) -> dict[str, Any]:
    """Return a job that runs a script in a container."""
    return {"script": script, "container": {"image": image, **(container or {})}, **more}


def ended(user: PlainUser, job: str) -> dict[str, Any]:
    """Wait for a job; return its document."""
    user.run(WEFT, "wait", job)
    found: dict[str, Any] = json.loads(user.weft("status", job, "--json"))
    return found


def containers(user: PlainUser, **more: str) -> dict[str, str]:
    """Return the settings of a worker that runs containers."""
    return {"WEFT_CONTAINERS": "true", "WEFT_CONTAINER_PATHS": str(user.shared), **more}


def test_container_shows_the_image_and_nothing_of_the_host(
    user: PlainUser, images: Registry
) -> None:
    trust(user, images.name)
    pinned = images.push("busy:1")
    image = f"docker://{images.name}/busy:1"
    (user.shared / "in").mkdir()
    (user.shared / "in" / "data").write_text("data\n")
    os.chown(user.shared / "in", UID, UID)
    look = "\n".join(
        (
            "cat /etc/word; id -u; pwd; ls -A | wc -l; echo $GREETING $A",
            "touch /etc/x 2>/dev/null || echo read-only",
            "touch /x 2>/dev/null || echo read-only",
            "touch /tmp/x here && echo own",
            f"ls -d {user.weft_home} 2>/dev/null || echo hidden",
            "grep -vc -e '|' -e lo: /proc/net/dev",
            "cat /mnt/in/data; echo out > /mnt/out/result; touch /mnt/in/y 2>/dev/null || echo ro",
            "ls -d /proc/[0-9]* | wc -l",
        )
    )
    mounts = [
        {"source": str(user.shared / "in"), "target": "/mnt/in"},
        {"source": str(user.shared), "target": "/mnt/out", "write": True},
    ]
    with user.up(**containers(user)):
        batch = submit(
            user,
            job(image, look, env={"A": "a"}, container={"mounts": mounts}),
            {"container": {"image": pinned}},
            job(image, "id -un; id -g; exit 3", container={"user": "nina"}),
            job(image, "kill -9 $$"),
            job(image, "grep -c -e eth -e lo: /proc/net/dev", network=True),
            job(image, SAYS, env={"WEFT_PROGRESS": "/etc/passwd"}),
        )
        first = ended(user, f"{batch}.j1")
        seen = user.weft("logs", f"{batch}.j1").split("\n")
        of_image = user.weft("logs", f"{batch}.j2") if ended(user, f"{batch}.j2") else ""
        third, fourth = ended(user, f"{batch}.j3"), ended(user, f"{batch}.j4")
        who = user.weft("logs", f"{batch}.j3").split()
        fifth, sixth = ended(user, f"{batch}.j5"), ended(user, f"{batch}.j6")
        products = json.loads(user.weft("products", "--json"))
        user.weft("audit")

    assert first["state"] == "success", (first, seen)
    assert seen[:4] == ["first", "0", "/weft/work", "0"]
    assert seen[4:9] == ["hello a", "read-only", "read-only", "own", "hidden"]
    assert seen[9] == "0"
    assert seen[10:12] == ["data", "ro"]
    assert int(seen[12]) < 6
    assert (user.shared / "result").read_text() == "out\n"
    assert pinned in first["message"]
    assert of_image == "from the image\n"
    assert (third["reason"], third["exit_code"], who) == ("exit", 3, ["nina", "55"])
    assert fourth["exit_code"] == 137
    assert fifth["state"] == "success"
    assert (sixth["state"], sixth["progress"]["text"]) == ("success", "epoch 4")
    assert sixth["notes"] == ["loss"]
    assert [one["product"] for one in products] == [{"type": "FSC"}]


def test_jobs_of_hails_client_run_in_their_images(user: PlainUser, images: Registry) -> None:
    trust(user, images.name)
    images.push("busy:1")
    process = {
        "type": "docker",
        "image": f"{images.name}/busy:1",
        "command": ["sh", "-c", "cat /etc/word; echo own > /io/x; cat /io/x"],
    }
    batch = {"billing_project": "default", "n_jobs": 1, "n_job_groups": 0, "token": "t"}
    bunch = [{"job_id": 1, "process": process, "resources": {"memory": "64Mi", "cpu": "0.25"}}]
    body = {"batch": batch, "bunch": bunch, "job_groups": []}
    with user.up(**containers(user, WEFT_HAIL_IMAGES="true")):
        client = json.loads((user.weft_home / "client.json").read_text())
        answer = httpx.post(
            f"{client['url']}/api/v1alpha/batches/create-fast",
            json=body,
            headers={"Authorization": f"Bearer {client['token']}"},
        )
        number = answer.json()["id"]
        found = ended(user, f"b{number}.j1")
        said = user.weft("logs", f"b{number}.j1")
        user.weft("audit")

    assert found["state"] == "success", found
    assert said.split() == ["first", "own"]


def test_what_cannot_run_says_why(user: PlainUser, images: Registry) -> None:
    trust(user, images.name)
    images.push("busy:1")
    image = f"docker://{images.name}/busy:1"
    secret = [{"source": str(user.weft_home), "target": "/mnt/x"}]
    with user.up(**containers(user, WEFT_CONTAINER_IMAGES=f"docker://{images.name}/,dir:")):
        batch = submit(
            user,
            job(f"docker://{images.name}/none:1", "true"),
            {"command": ["nothing-such"], "container": {"image": image}},
            job(image, "true", container={"mounts": secret}),
            job("docker://127.0.0.1:1/a:1", "true"),
            job(f"dir:{user.weft_home}", "true"),
            job(image, "true", container={"user": "nobody-here"}),
        )
        found = [ended(user, f"{batch}.j{number}") for number in range(1, 7)]
        user.weft("audit")

    reasons = [one["reason"] for one in found]
    assert reasons == ["no_image", "no_program", "bad_spec", "bad_spec", "bad_spec", "bad_spec"]
    assert "manifest unknown" in found[0]["message"]
    assert "container_paths" in found[2]["message"]
    assert "container_images" in found[3]["message"]
    assert "container_paths" in found[4]["message"]
    assert "nobody-here" in found[5]["message"]


def test_tag_that_moves_gives_the_new_image_and_what_runs_keeps_the_old(
    user: PlainUser, images: Registry
) -> None:
    trust(user, images.name)
    old = images.push("busy:1", "old")
    image = f"docker://{images.name}/busy:1"
    wait = "cat /etc/word; until [ -e /mnt/go ]; do sleep 0.1; done; cat /etc/word"
    mounts = {"mounts": [{"source": str(user.shared), "target": "/mnt"}]}
    settings = containers(user, WEFT_CONTAINER_TAG_S="0", WEFT_CONTAINER_CACHE_BYTES="1048576")
    with user.up(**settings):
        first = submit(user, job(image, wait, container=mounts)) + ".j1"
        until(lambda: "old" in user.weft("logs", first))
        new = images.push("busy:1", "new")
        second = ended(user, submit(user, job(image, "cat /etc/word")) + ".j1")
        cached = list((user.weft_home / "images").iterdir())
        (user.shared / "go").touch()
        of_first = ended(user, first)
        words = user.weft("logs", first).split()

    assert old != new
    assert (old in of_first["message"], new in second["message"]) == (True, True)
    assert words == ["old", "old"]
    assert len(cached) == 2  # locked while it runs, although both are more than the cache holds


def test_container_is_killed_and_adopted_as_any_job(user: PlainUser, images: Registry) -> None:
    trust(user, images.name)
    images.push("busy:1")
    image = f"docker://{images.name}/busy:1"
    with user.up(**containers(user, WEFT_GRACE_S="1")):
        batch = submit(user, job(image, "trap '' TERM; sleep 600 & wait; sleep 600"))
        kept = submit(user, job(image, "echo began; sleep 8; echo ended"))
        until(lambda: "began" in user.weft("logs", f"{kept}.j1"))
        agents = [one for one in _processes(user) if "weft.run.worker" in one[1]]
        for pid, _ in agents:
            os.kill(pid, signal.SIGKILL)
        user.weft("cancel", batch)
        cancelled = ended(user, f"{batch}.j1")
        adopted = ended(user, f"{kept}.j1")
        said = user.weft("logs", f"{kept}.j1").split()
        until(lambda: not [one for one in _processes(user) if "sleep 600" in one[1]])
        user.weft("audit")

    assert agents
    assert cancelled["state"] == "cancelled"
    assert (adopted["state"], adopted["attempt"], said) == ("success", 1, ["began", "ended"])


PLACE = """ls -l /proc/self/ns | grep -o ' [a-z_]* ->.*'; id; pwd; hostname; ls -A /
ls /proc/self/fd; echo $A $WEFT_CHECKPOINT_DIR; grep -e Eff: -e Prm: -e NoNew /proc/self/status
echo all;"""


@pytest.mark.parametrize("where", ["container", "with network", "sandbox"])
def test_commands_and_ports_reach_into(user: PlainUser, images: Registry, where: str) -> None:
    trust(user, images.name)
    images.push("busy:1")
    script = f"{PLACE} busybox httpd -f -p 127.0.0.1:{(port := free_port())} -h /etc; :"
    of = job(f"docker://{images.name}/busy:1", script, {"user": "nina"}, env={"A": "a"})
    of = {k: one for k, one in of.items() if k != "container" or where != "sandbox"}
    with user.up(**containers(user, WEFT_SANDBOX="bubblewrap")):
        name = submit(user, {**of, "network": where == "with network"}) + ".j1"
        until(lambda: "all" in user.weft("logs", name))
        env = {**os.environ, "WEFT_HOME": str(user.weft_home)}
        with Client(home=user.weft_home) as client:
            run = client.get_job(name).exec
            there, missing = run(["sh", "-c", f"{PLACE} exit 3"]), run(["no-such"])
            killed = run(["sh", "-c", "setsid sleep 601 & kill -9 $$"])
        until(lambda: "sleep 601 " not in dict(_processes(user)).values())
        words = ["timeout", "60", str(WEFT), "forward", name, f":{port}", "--json"]
        shell = on_terminal(script_of("exec", "-t", name, "--", "sh"), env)
        with subprocess.Popen(words, stdout=-1, env=env) as forward, shell as terminal:
            url = json.loads(forward.stdout.readline())["url"]  # type: ignore[union-attr]
            served = httpx.get(f"{url}/passwd").text
            terminal.type("echo is $TERM; [ -t 0 ] && sleep 602\r")
            terminal.until("is xterm")
            said = user.weft("logs", name)
            user.weft("cancel", name.partition(".")[0])
            codes = [forward.wait(60), terminal.finish(), killed.exit_code, missing.exit_code]
        until(lambda: "sleep 602 " not in dict(_processes(user)).values())
    assert (there.exit_code, there.stdout.decode(), there.stderr) == (3, said, b"")
    assert (codes, b"no-such" in missing.stderr) == ([137, 137, 137, 127], True)
    assert "root:" in served


def _processes(user: PlainUser) -> list[tuple[int, str]]:
    """Return the processes of the user's weft, or their words."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                if one.stat().st_uid in {UID, os.geteuid() or UID}:
                    words = (one / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((int(one.name), words))
            except OSError:
                continue
    return found


def test_images_of_one_user_stay_closed_to_others(user: PlainUser) -> None:
    with registry(login="ann:swordfish") as images:
        trust(user, images.name)
        images.push("busy:1", login="ann:swordfish")
        image = f"docker://{images.name}/busy:1"
        uses = [{"name": "pull", "registry": images.name}]
        with user.up(**containers(user)):
            user.run("sh", "-c", f"printf ann:swordfish | {WEFT} secret set pull")
            batch = submit(user, job(image, "cat /etc/word; env", secrets=uses))
            first = ended(user, f"{batch}.j1")
            said = user.weft("logs", f"{batch}.j1")
            second = ended(user, submit(user, job(image, "true")) + ".j1")
            logs = "".join(
                one.read_text(errors="replace") for one in user.weft_home.rglob("*.log")
            )

    assert first["state"] == "success", first
    assert said.startswith("first")
    assert "swordfish" not in said + logs
    assert (second["state"], second["reason"]) == ("error", "no_image")
    assert "unauthorized" in second["message"] or "authentication" in second["message"]
