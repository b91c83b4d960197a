"""What passes between weft and its store: rows, requests and reports; and the port of workers.

`api` and `driver` have one store (`weft.store`), which needs no port. A worker's store has two
adapters, PostgreSQL and the api (`extensions/link/worker/`), so it is a port: `WorkerStore`.
Errors are `WeftError`s; `Unavailable` means that the database cannot be reached now and the call
may be repeated.
"""

from weft.ports.store.billing import ReportPage, ReportQuery
from weft.ports.store.callbacks import DeliveryReport, DueCallback
from weft.ports.store.callers import Caller, Row, Visit, WorkTerms
from weft.ports.store.conditions import DueCondition
from weft.ports.store.driver import Beat, Folded
from weft.ports.store.edits import EditLimits, Patch
from weft.ports.store.foreign_jobs import ForeignJobs, ForeignOrder
from weft.ports.store.job_entries import JobEntry
from weft.ports.store.notices import Notices
from weft.ports.store.offers import (
    DeadMessage,
    DueOffer,
    EventReader,
    ForeignCommand,
    ForeignQueues,
    Listening,
    Offered,
    OfferEnd,
    WantedAgain,
)
from weft.ports.store.operations import Operation, Resubmitted
from weft.ports.store.patrol import Patrolled, Position
from weft.ports.store.pools import ShareKey
from weft.ports.store.queries import BatchQuery, JobQuery, ProductQuery, QueryLimits
from weft.ports.store.queues import Waiting
from weft.ports.store.schedules import DueSchedule, NewSchedule, ScheduleMove, ScheduleRun
from weft.ports.store.submitted import (
    ArrayRow,
    Gate,
    GroupLimits,
    JobRows,
    NewBatch,
    NewGroup,
    NewSet,
    Reserved,
    Shape,
)
from weft.ports.store.tenants import Visited
from weft.ports.store.trail import ACTION, Action, FailedLogin, LoginOwner, TrailQuery, acting
from weft.ports.store.worker import (
    Claimed,
    ClaimRequest,
    EndReport,
    HeartbeatAnswer,
    JobUser,
    OfferAnswer,
    OfferedStore,
    PhaseReport,
    ProgressReport,
    Registered,
    StartReport,
    WorkerStore,
)
from weft.ports.store.worker_files import (
    FileWanted,
    FoundFile,
    KeptFile,
    StoredFileStore,
    StoredSecret,
)

__all__ = [
    "ACTION", "Action", "ArrayRow", "BatchQuery", "Beat", "Caller", "ClaimRequest", "Claimed",
    "DeadMessage", "DeliveryReport", "DueCallback", "DueCondition", "DueOffer", "DueSchedule",
    "EditLimits", "EndReport", "EventReader", "FailedLogin", "FileWanted", "Folded",
    "ForeignCommand", "ForeignJobs", "ForeignOrder", "ForeignQueues", "FoundFile", "Gate",
    "GroupLimits", "HeartbeatAnswer", "JobEntry", "JobQuery", "JobRows", "JobUser", "KeptFile",
    "Listening", "LoginOwner", "NewBatch", "NewGroup", "NewSchedule", "NewSet", "Notices",
    "OfferAnswer", "OfferEnd", "Offered", "OfferedStore", "Operation", "Patch", "Patrolled",
    "PhaseReport", "Position", "ProductQuery", "ProgressReport", "QueryLimits", "Registered",
    "ReportPage", "ReportQuery", "Reserved", "Resubmitted", "Row", "ScheduleMove",
    "ScheduleRun", "Shape", "ShareKey", "StartReport", "StoredFileStore", "StoredSecret",
    "TrailQuery", "Visit", "Visited", "Waiting", "WantedAgain", "WorkTerms", "WorkerStore",
    "acting",
]  # fmt: skip
