"""What attempts at an engine are told while they run."""

from weft.core.command import Command
from weft.core.errors import Unavailable
from weft.core.states import Phase
from weft.plugins.runners.remote.engine import Engine
from weft.plugins.runners.remote.handles import Handle


async def tell_attempt(
    engine: Engine, command: Command, handle: Handle | None, phase: Phase | None
) -> str:
    """Tell an attempt in this phase, which has a handle if it is known and a phase if it has not
    ended. Return why it could not be told; empty: it was.
    """
    if handle is None or phase is None:
        return "it does not run any more"
    if command.signal is None and handle.assignment.spec.timeout_s is None:
        return "it has no time limit"
    if command.signal is not None and phase < Phase.EXECUTING:
        return "it waits in the engine"
    try:
        return await engine.tell(handle.assignment, command)
    except Unavailable as error:
        return error.message
