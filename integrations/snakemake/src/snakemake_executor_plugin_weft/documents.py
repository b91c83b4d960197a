"""What a job of Snakemake is in the words of weft."""

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping
from typing import Any, Final

from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

NAME_CHARACTERS: Final = 200
OWN: Final = ("queue", "machine", "image", "priority", "offers")
"""Resources `weft_…` of a rule."""
CHILD: Final = "snakemake_executor_plugin_weft.child:run"
_WORDS_OF_SHELLS: Final = {"&&", "||", "|", ";", "&"}


def name_of(job: JobExecutorInterface) -> str:
    """Return a name that no other job of the workflow has, the same in each run."""
    words = [str(job.jobid)] if job.is_group() else [f"{k}={v}" for k, v in wildcards(job).items()]
    name = " ".join([job.name, *words])
    if len(name) <= NAME_CHARACTERS:
        return name
    return f"{name[:NAME_CHARACTERS]} {hashlib.sha256(name.encode()).hexdigest()[:16]}"


def wildcards(job: JobExecutorInterface) -> Mapping[str, str]:
    """Return its wildcards; a group has none."""
    return json.loads(job.properties()).get("wildcards") or {}


def document_of(
    job: JobExecutorInterface,
    command: str,
    settings: Mapping[str, str | None],
    env: Mapping[str, str],
    cwd: str | None,
) -> dict[str, Any]:
    """Return the document of a job that runs a command of the shell, in a directory that its host
    has, or in one of its own.
    """
    own = {word: job.resources.get(f"weft_{word}") or settings.get(word) for word in OWN}
    document: dict[str, Any] = {
        "name": name_of(job),
        **_work(command, None if own["image"] else cwd),
        "env": dict(env),
        "resources": {**_resources(job), **_offers(own["offers"])},
        "timeout_s": (_number(job, "runtime") or 0) * 60 or None,
        "queue": own["queue"],
        "machine": own["machine"],
        "priority": own["priority"],
        "attributes": {"rule": job.name, "attempt": str(job.attempt), **wildcards(job)},
        "groups": [job.name] if job.is_group() else None,
    }
    if own["image"]:
        mounts = [{"source": cwd, "target": cwd, "write": True}] if cwd else []
        document |= {"container": {"image": own["image"], "mounts": mounts}, "network": True}
    return {word: value for word, value in document.items() if value is not None}


def _work(command: str, cwd: str | None) -> dict[str, Any]:
    """Return the call of this Snakemake, if the command is no more than that and the directory is
    there; else a script.
    """
    interpreter, *words = shlex.split(command)
    is_plain = (interpreter, *words[:2]) == (sys.executable, "-m", "snakemake")
    if is_plain and cwd and _WORDS_OF_SHELLS.isdisjoint(words):
        call = {"call": CHILD, "args": [words[2:], cwd], "interpreter": interpreter}
        return {"function": call}
    # A profile is for the main process: with it the job would look for an executor, too.
    return {"script": f"#!/bin/bash\nunset SNAKEMAKE_PROFILE\n{_cd(cwd)}{command}\n"}


def _cd(cwd: str | None) -> str:
    return f"cd {shlex.quote(cwd)} || exit\n" if cwd else ""


def _resources(job: JobExecutorInterface) -> dict[str, Any]:
    amounts = {
        "cpu": _number(job, "_cores") or job.threads,
        "memory": (mem := _number(job, "mem_mb")) and f"{mem}M",
        "storage": (disk := _number(job, "disk_mb")) and f"{disk}M",
        "gpu": _number(job, "gpu"),
    }
    return {word: amount for word, amount in amounts.items() if amount}


def _number(job: JobExecutorInterface, resource: str) -> int | float | None:
    """Return an amount; None: there is none, or it is not known yet."""
    amount = job.resources.get(resource)
    return amount if isinstance(amount, int | float) else None


def _offers(text: object) -> dict[str, Any]:
    """Return what `matlab=1,region=eu|us` asks for."""
    pairs = (pair.partition("=")[::2] for pair in str(text or "").split(",") if pair.strip())
    return {
        word.strip(): float(value) if value.strip().isdecimal() else value.strip().split("|")
        for word, value in pairs
    }
