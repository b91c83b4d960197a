"""Warm starts of containers: 500 jobs of weft as a plain user, beside `podman run` by xargs.

`python -m benches.containers PODMAN IMAGE [JOBS]`, from the folder of the repository, with tests/
on PYTHONPATH; PODMAN is the command, IMAGE one in its store with busybox. weft pulls an image of
busybox from a registry that is started for it (`tests/e2e/registry.py`), once, before the clock.
"""

import json
import os
import subprocess
import sys
import time

from e2e.plain_user import PlainUser, plain_user
from e2e.registry import registry, trust

ROUNDS = 3


def main() -> None:
    """Print jobs a second of both, and the ratio of the medians."""
    podman, image = sys.argv[1:3]
    jobs = int(sys.argv[3]) if sys.argv[3:] else 500
    of_weft, of_podman = [], []
    with plain_user() as user, registry() as images:
        trust(user, images.name)
        images.push("busy:1")
        with user.up(WEFT_CONTAINERS="true"):
            _weft(user, f"docker://{images.name}/busy:1", 10)
            for _ in range(ROUNDS):
                of_weft.append(_weft(user, f"docker://{images.name}/busy:1", jobs))
                of_podman.append(_podman(podman, image, jobs))
    rates = [sorted(one)[ROUNDS // 2] for one in (of_weft, of_podman)]
    print(f"weft {rates[0]:.1f}/s, podman {rates[1]:.1f}/s, ratio {rates[0] / rates[1]:.1f}")


def _weft(user: PlainUser, image: str, jobs: int) -> float:
    file = user.home / "bench.json"
    container = {"image": image}
    resources = {"cpu": "100m", "memory": "16Mi"}
    one = {"command": ["true"], "count": jobs, "container": container, "resources": resources}
    file.unlink(missing_ok=True)
    file.write_text(json.dumps({"jobs": [one]}))
    file.chmod(0o644)
    begun = time.monotonic()
    batch = user.weft("submit", "--wait", str(file)).split()[0]
    took_s = time.monotonic() - begun
    assert batch
    return jobs / took_s


def _podman(podman: str, image: str, jobs: int) -> float:
    begun = time.monotonic()
    subprocess.run(
        [
            "xargs",
            "-P",
            str(os.cpu_count()),
            "-I",
            "{}",
            podman,
            "run",
            "--rm",
            "--network",
            "none",
            "--read-only",
            image,
            "true",
        ],
        input="".join(f"{one}\n" for one in range(jobs)),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return jobs / (time.monotonic() - begun)


if __name__ == "__main__":
    main()
