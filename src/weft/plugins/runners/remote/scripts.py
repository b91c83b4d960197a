"""The script by which a node runs an attempt, where an engine gives it a folder of its own."""

import shlex
from collections.abc import Mapping
from typing import Final, NamedTuple

from weft.core.ends.conditions import BLOCK_FILE_VARIABLE
from weft.core.errors import Invalid
from weft.core.files.products import PRODUCTS_VARIABLE
from weft.plugins.executors import job_environment
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spec import JobSpec

FOLDER: Final = "weft_folder"
"""The variable of the script that names the folder."""
PRODUCTS: Final = "products"
ASK: Final = "ask"
"""Files in it in which a job says something; the gateway brings them back."""


class Dialect(NamedTuple):
    """What an engine is called, and which executors' specs it runs."""

    engine: str
    runs: tuple[str, ...]
    """`process` is a spec that names none."""


def check_program(spec: JobSpec, dialect: Dialect) -> None:
    """Raise `Invalid` if the engine cannot run such a job."""
    if spec.executor not in dialect.runs:
        raise Invalid(
            f"{dialect.engine} cannot run a job of the executor {spec.executor!r}",
            hint="Let it run on a worker of this executor.",
        )
    if spec.function is not None:
        raise Invalid(
            f"{dialect.engine} runs programs, not functions", hint="Give it a command or a script."
        )


def script_of(
    one: Assignment, limits: ExecutorLimits, dialect: Dialect, environment: Mapping[str, str]
) -> str:
    """Return the script of an attempt, after what sets the folder. Raise `Invalid` if the engine
    cannot run such a job. `environment`: of a job that inherits none.
    """
    key, spec = one.key, one.spec
    check_program(spec, dialect)
    own = job_environment.environment_elsewhere(key, spec, limits, environment)
    lines = [f"export {name}={shlex.quote(text)}" for name, text in own.items()]
    if limits.block_files:
        lines.append(f'export {BLOCK_FILE_VARIABLE}="${FOLDER}/{ASK}"')
    if limits.product_files:
        lines.append(f'export {PRODUCTS_VARIABLE}="${FOLDER}/{PRODUCTS}"')
    if spec.umask is not None:
        lines.append(f"umask {int(spec.umask, 8):o}")
    if spec.stdin is not None:
        lines.append(f'printf %s {shlex.quote(spec.stdin)} >"${FOLDER}/stdin"')
        lines.append(f'exec <"${FOLDER}/stdin"')
    else:
        lines.append("exec </dev/null")
    where = f'"${FOLDER}/work"' if spec.cwd is None else shlex.quote(spec.cwd)
    make = f'mkdir -p "${FOLDER}/work" && ' if spec.cwd is None else ""
    lines.append(f"{make}cd {where} || exit 126")
    argv, script = job_environment.program_of(spec)
    if script is not None:
        lines.append(f'printf %s {shlex.quote(script)} >"${FOLDER}/program"')
        lines.append(f'chmod 700 "${FOLDER}/program"')
    words = shlex.join(argv)
    program = f'"${FOLDER}/program" {words}' if script is not None else words
    if not program:
        return "exit 0\n"
    limit_ms = job_environment.timeout_ms_of(spec)
    clock = ""
    if limit_ms is not None:
        clock = f"timeout -k {limits.grace_ms / 1000:g} {limit_ms / 1000:g} "
    return "\n".join([*lines, f"exec {clock}{program}", ""])
