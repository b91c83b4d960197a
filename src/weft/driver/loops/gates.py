"""The loop that admits jobs waiting at gates, if the call that freed a place could not.

It also opens gates at their dates, and takes places back from admitted jobs that are not claimed
while others could use them. It waits for its bell: notices ring it, and the next of these dates,
which it asks for after each pass and the leader's heartbeats move.
"""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that a gate is never busy for long."""


async def _run(context: LoopContext) -> None:
    while True:
        if moved := await context.sweep_all("pass_gates", limit_jobs=PASS_JOBS_MAX):
            log.debug("gates.passed", jobs=moved)
        await context.bell.heard_by(await context.store.gates_due(context.epoch))


LOOP = Loop("gates", _run)
