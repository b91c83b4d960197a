"""Queues: which one takes a job, and what changes when an operator applies a file of queues.

Guards are CEL expressions over the attributes of `attributes.py` (ADR 28).
"""

from weft.core.queues.attributes import ATTRIBUTES, Attribute
from weft.core.queues.guard import Guard, WrongGuard, compile_guard, compile_saved
from weft.core.queues.plan import QueueDifference, plan_changes
from weft.core.queues.queue import DEFAULT, Queue
from weft.core.queues.route import Asked, Request, Route, Router, Verdict

__all__ = [
    "ATTRIBUTES",
    "DEFAULT",
    "Asked",
    "Attribute",
    "Guard",
    "Queue",
    "QueueDifference",
    "Request",
    "Route",
    "Router",
    "Verdict",
    "WrongGuard",
    "compile_guard",
    "compile_saved",
    "plan_changes",
]
