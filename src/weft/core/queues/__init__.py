"""Queues: which one takes a job, and what changes when an operator applies a file of queues.

Guards are CEL expressions over the attributes of `attributes.py` (ADR 28).
"""

from weft.core.queues.attributes import ATTRIBUTES, Attribute
from weft.core.queues.guard import (
    Guard,
    WrongGuard,
    compile_each_saved,
    compile_guard,
    compile_saved,
    refusal_of_each,
)
from weft.core.queues.queue import DEFAULT, Queue, QueueDifference, plan_changes
from weft.core.queues.route import (
    Asked,
    AskingRouter,
    Chosen,
    Request,
    Route,
    Router,
    Unrouted,
    Verdict,
    chosen_of,
    first_of,
    takes_of_each,
    verdicts_of,
)

__all__ = [
    "ATTRIBUTES",
    "DEFAULT",
    "Asked",
    "AskingRouter",
    "Attribute",
    "Chosen",
    "Guard",
    "Queue",
    "QueueDifference",
    "Request",
    "Route",
    "Router",
    "Unrouted",
    "Verdict",
    "WrongGuard",
    "chosen_of",
    "compile_each_saved",
    "compile_guard",
    "compile_saved",
    "first_of",
    "plan_changes",
    "refusal_of_each",
    "takes_of_each",
    "verdicts_of",
]
