"""The types of fields that answers of several subjects have."""

from typing import Annotated, Literal

from msgspec import Meta, UnsetType

GroupStateWord = Literal["running", "success", "failure", "cancelled"]
ReasonWord = Literal[
    "exit",
    "signal",
    "timeout",
    "oom",
    "disk",
    "no_program",
    "no_image",
    "bad_spec",
    "cancelled",
    "preempted",
    "lost",
    "log_limit",
    "system",
    "deadline",
    "blocked",
    "overdue",
    "files",
]
PhaseWord = Literal[
    "assigned",
    "preparing",
    "staging_inputs",
    "submitting",
    "queued_remote",
    "executing",
    "collecting",
    "archiving",
    "publishing",
]
Count = Annotated[int, Meta(ge=0)]
MESSAGE = Meta(description="details of its end; while it runs in an engine, what that says of it")
IF_GIVEN = Meta(description="as submitted; missing if it was not given")
Door = Annotated[str | UnsetType, Meta(description="through which it came; missing if none")]
ForeignId = Annotated[str | UnsetType, Meta(description="its id at the door; missing if none")]
Money = Annotated[float, Meta(ge=0, description="in the deployment's currency")]
JobIds = Annotated[
    list[int] | UnsetType, Meta(description="of the jobs, in the order of the request")
]
