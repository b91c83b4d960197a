"""GNU parallel with a log of jobs, by which the same command goes on where it was."""

import os
import subprocess
from pathlib import Path

import jobs


def send(kind, numbers):
    """Run all jobs."""
    words = jobs.command(kind, "{}")
    quoted = " ".join(word if word == "{}" else f"'{word}'" for word in words)
    log = Path(os.environ["PEER_DONE"]).with_name(f"log-{numbers[0]}")
    options = ["-j", str(jobs.AT_ONCE), "--joblog", str(log), "--resume", "--will-cite"]
    lines = "".join(f"{number}\n" for number in numbers)
    subprocess.run(["parallel", *options, quoted], input=lines, text=True, check=True)


if __name__ == "__main__":
    jobs.main(send)
