"""The port `store`: weft's calls to its database, by caller.

One method is one SQL function of the same name; the header of `sql/functions/*/NAME.sql` gives
its locks and its plan.
The three callers log in as three database roles with different rights: three protocols.
Errors are `WeftError`s; `Unavailable` means that the database cannot be reached now and the call
may be repeated.
"""

from weft.ports.store.api import ApiStore
from weft.ports.store.billing import BillingStore, ReportPage, ReportQuery
from weft.ports.store.callbacks import DeliveryReport, DueCallback
from weft.ports.store.callers import Caller, Row, Visit, WorkTerms
from weft.ports.store.conditions import ConditionStore, DueCondition
from weft.ports.store.driver import Beat, DriverStore, Folded
from weft.ports.store.edits import EditLimits, EditStore, Patch
from weft.ports.store.fleet import FleetStore
from weft.ports.store.foreign_jobs import ForeignJobs, ForeignOrder
from weft.ports.store.groups import SetGroupStore
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
    OfferStore,
    WantedAgain,
)
from weft.ports.store.operations import Operation, Resubmitted
from weft.ports.store.patrol import Patrolled, Position
from weft.ports.store.pools import PoolStore, ShareKey
from weft.ports.store.queries import BatchQuery, JobQuery, ProductQuery, QueryLimits
from weft.ports.store.queues import QueueStore, Waiting
from weft.ports.store.schedules import (
    DueSchedule,
    NewSchedule,
    ScheduleMove,
    ScheduleRun,
    ScheduleStore,
)
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
    FileWanted,
    FoundFile,
    HeartbeatAnswer,
    JobUser,
    KeptFile,
    OfferAnswer,
    OfferedStore,
    PhaseReport,
    Registered,
    StartReport,
    StoredFileStore,
    StoredSecret,
    WorkerStore,
)

__all__ = [
    "ACTION",
    "Action",
    "ApiStore",
    "ArrayRow",
    "BatchQuery",
    "Beat",
    "BillingStore",
    "Caller",
    "ClaimRequest",
    "Claimed",
    "ConditionStore",
    "DeadMessage",
    "DeliveryReport",
    "DriverStore",
    "DueCallback",
    "DueCondition",
    "DueOffer",
    "DueSchedule",
    "EditLimits",
    "EditStore",
    "EndReport",
    "EventReader",
    "FailedLogin",
    "FileWanted",
    "FleetStore",
    "Folded",
    "ForeignCommand",
    "ForeignJobs",
    "ForeignOrder",
    "ForeignQueues",
    "FoundFile",
    "Gate",
    "GroupLimits",
    "HeartbeatAnswer",
    "JobEntry",
    "JobQuery",
    "JobRows",
    "JobUser",
    "KeptFile",
    "Listening",
    "LoginOwner",
    "NewBatch",
    "NewGroup",
    "NewSchedule",
    "NewSet",
    "Notices",
    "OfferAnswer",
    "OfferEnd",
    "OfferStore",
    "Offered",
    "OfferedStore",
    "Operation",
    "Patch",
    "Patrolled",
    "PhaseReport",
    "PoolStore",
    "Position",
    "ProductQuery",
    "QueryLimits",
    "QueueStore",
    "Registered",
    "ReportPage",
    "ReportQuery",
    "Reserved",
    "Resubmitted",
    "Row",
    "ScheduleMove",
    "ScheduleRun",
    "ScheduleStore",
    "SetGroupStore",
    "Shape",
    "ShareKey",
    "StartReport",
    "StoredFileStore",
    "StoredSecret",
    "TrailQuery",
    "Visit",
    "Visited",
    "Waiting",
    "WantedAgain",
    "WorkTerms",
    "WorkerStore",
    "acting",
]
