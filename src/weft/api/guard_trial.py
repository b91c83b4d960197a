"""Guards tried in a process of its own, which can be killed: their library cannot be interrupted,
and while it evaluates, no other request is served. What a guard may cost is bounded before
(`core.queues.guard`), so this is for what nobody has thought of.
"""

import asyncio
import json
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from weft.core.queues import WrongGuard, compile_guard

CPU_S: Final = 5
_WITHIN_S: Final = 30.0
_BYTES_MAX: Final = 2 << 30
_KILLED: Final = "it takes too long, or more memory than a guard may have"


async def refusals_of(
    guards: Sequence[str], program: Sequence[str] = ("-m", __name__), *, cpu_s: int = CPU_S
) -> list[str]:
    """Return why each guard is refused; empty: it is not. After one that was killed none is
    tried.
    """
    if not guards:
        return []
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-X", "utf8", *program, str(cpu_s),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        said = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WITHIN_S):
                said, _ = await process.communicate(json.dumps([*guards]).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = [str(json.loads(line)) for line in said.splitlines()]
    if len(found) < len(guards):
        found.append(_KILLED)
    return found + [""] * (len(guards) - len(found))


def main() -> None:
    """Try the guards that come; print a line for each."""
    cpu_s = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES_MAX, _BYTES_MAX))
    for guard in json.load(sys.stdin):
        try:
            compile_guard(guard)
        except WrongGuard as refused:
            said = str(refused)
        else:
            said = ""
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
