"""What a submission is in the words of weft."""

from __future__ import annotations

import os

from weft_hq.words import Mistake, Options, number, read_options, read_script, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft_hq.server import Document
PRIORITY_MAX = 1000
FILES = "%{CWD}/job-%{JOB_ID}/%{TASK_ID}."


def read_submission(words: list[str], environment: dict[str, str]) -> Document:
    """Return the batch of a submission: the command line wins over the script."""
    here, options = os.getcwd(), Options()
    program = read_options(words, options)
    if not program:
        raise Mistake("the following required arguments were not provided: <COMMANDS>...")
    name, how = os.path.basename(program[0]), options.get("directives", "auto")
    if how == "file" or (how == "auto" and name.endswith(".sh")):
        program[0] = os.path.join(here, program[0])
        directives, interpreter = read_script(program[0])
        options = Options()
        if more := read_options(directives, options):
            raise Mistake(f"unexpected argument '{more[0]}' found in {program[0]}")
        read_options(words, options)
        program = [*interpreter, *program]
    if how == "stdin" or options.get("nodes", "1") != "1":
        raise Mistake("weft takes no '--directives=stdin', and '--nodes' must be 1")
    cwd = os.path.join(here, options.get("cwd", here).replace("%{SUBMIT_DIR}", here))
    return {
        "name": options.get("name", name),
        "attributes": {"hq": cwd, **dict(options.pairs("attribute"))},
        "inherit_env": environment,
        "jobs": [_job(options, program, here, cwd)],
    }


def _job(options: Options, program: list[str], here: str, cwd: str) -> Document:
    out, err = (_file(options.get(name, FILES + name), here) for name in ("stdout", "stderr"))
    if log := options.get("log") or options.get("stream"):
        out, err = _file(log, here), ""
    with open(os.path.join(os.path.dirname(__file__), "wrapper.sh")) as file:
        command = ["/bin/bash", "-c", file.read(), "hq", out, err, *program]
    cpus = options.get("cpus", "1").partition(" ")[0].replace("all", str(os.cpu_count()))
    env = {"HQ_TASK_ID": "0", "HQ_SUBMIT_DIR": here, "HQ_CPUS": cpus, **dict(options.pairs("env"))}
    job: Document = {"command": command, "cwd": cwd, "env": env, **_attempts(options)}
    job["resources"] = {"cpu": number("cpus", cpus), **_resources(options)}
    job |= {word: options[word] for word in ("name", "queue") if word in options}
    if "time-limit" in options:
        job["timeout_s"] = seconds(options["time-limit"])
    if "priority" in options:
        wanted = round(number("priority", options["priority"]))
        job["priority"] = max(-PRIORITY_MAX, min(PRIORITY_MAX, wanted))
    if "container" in options:
        mounts = [{"source": cwd, "target": cwd, "write": True}]
        job["container"] = {"image": options["container"], "mounts": mounts}
    return job


def _file(path: str, here: str) -> str:
    path = path.removesuffix(":rm-if-finished").replace("%{SUBMIT_DIR}", here)
    return path if path == "none" or path.startswith("%{CWD}") else os.path.join(here, path)


def _resources(options: Options) -> Document:
    found: Document = {}
    for name, text in options.pairs("resource"):
        amount = number("resource", text)
        if name == "mem":
            found["memory"] = f"{round(amount)}Mi"
        elif name.partition("/")[0] == "gpus":
            found["gpu"] = round(amount)
        else:
            found["cpu" if name == "cpus" else name] = amount
    return found


def _attempts(options: Options) -> Document:
    """Without a word of it, what was lost with its worker is repeated and nothing else."""
    if "retries" in options:
        return {"max_attempts": round(number("retries", options["retries"])) + 1}
    if options.get("crash-limit") == "never-restart":
        return {"max_attempts": 1, "retry_on": ["lost"]}
    return {}
