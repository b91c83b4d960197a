"""The steps of a simulated job. Their names are those that clients of another system send."""

from typing import Annotated, Final

from msgspec import Struct, field
from msgspec.structs import fields

from weft.wire.description import says

_Milliseconds = Annotated[int, says("How long it takes; 0 or more.", 1000, unit="milliseconds")]
_Text = Annotated[str | None, says("Any text.", "half done")]


class SimulationStep(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="action", omit_defaults=True
):
    """What all steps are."""


class Sleep(SimulationStep, frozen=True, tag="SLEEP"):
    """Wait."""

    duration_ms: _Milliseconds = field(name="durationMs")


class Log(SimulationStep, frozen=True, tag="LOG"):
    """Write a line."""

    message: _Text = None


class Compute(SimulationStep, frozen=True, tag="COMPUTE"):
    """Add up the whole numbers below `iterations`."""

    iterations: Annotated[int, says("How many are added up; 0 or more.", 1_000_000)]


class HttpCall(SimulationStep, frozen=True, tag="HTTP_CALL"):
    """Wait as if for an answer; nothing is sent."""

    latency_ms: _Milliseconds = field(name="latencyMs")
    url: Annotated[
        str | None, says("What would be called; nothing is.", "https://example.org")
    ] = None


class Fail(SimulationStep, frozen=True, tag="FAIL"):
    """End the job as failed; later steps are not taken."""

    message: _Text = None


Step = Sleep | Log | Compute | HttpCall | Fail
_FIELDS: Final = {
    kind.__struct_config__.tag: {one.encode_name for one in fields(kind)} for kind in Step.__args__
}


class SimulationDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a simulated job does, in order."""

    steps: Annotated[
        tuple[Step, ...],
        says(
            "Taken one after the other; without any it succeeds.",
            [{"action": "SLEEP", "durationMs": 1000}, {"action": "LOG", "message": "done"}],
        ),
    ]


JobSimulation = Annotated[
    SimulationDocument | None,
    says("Steps that are simulated, without a process of its own; instead of `command`."),
]


def known_fields(step: object) -> object:
    """Return a step without fields that nobody knows, for clients whose steps may have more."""
    if not isinstance(step, dict):
        return step
    action = step.get("action")
    known = _FIELDS.get(action) if isinstance(action, str) else None
    if known is None:
        return step
    return {name: value for name, value in step.items() if name == "action" or name in known}
