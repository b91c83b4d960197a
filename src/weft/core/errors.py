"""Every error that weft reports, in one tree.

    WeftError
    ├── Invalid (400, exit 2)            it makes no sense; `errors` lists each offending field
    ├── Unauthenticated (401, exit 4)
    ├── Forbidden (403, exit 4)
    ├── NotFound (404, exit 2)           it does not exist, or not for you
    ├── Conflict (409, exit 4)
    ├── TooLarge (413, exit 2)
    ├── Unavailable (503, exit 3)        may work later
    └── Internal (500, exit 1)

Each leaf has a `code` (`AREA.FACT`, never reused), an HTTP status and an exit code of the
command line; an instance has a message (what happened), a detail (why) and a hint (what to do).
Messages follow PostgreSQL's style: lower case, no full stop; detail and hint are sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class FieldError:
    """One offending field.

    A JSON pointer (RFC 6901; empty for the whole document) and what is wrong with it.
    """

    pointer: str
    message: str


class WeftError(Exception):
    """The base of all errors that are reported to a person."""

    code: ClassVar[str] = "WEFT.INTERNAL"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    advice: ClassVar[str] = ""
    """The hint of those that give none of their own."""

    def __init__(
        self, message: str, *, detail: str = "", hint: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint or self.advice
        self.errors = tuple(errors)


class Invalid(WeftError):
    """What was asked makes no sense."""

    code = "API.INVALID_REQUEST"
    status = 400
    exit_code = 2


class InvalidDocument(Invalid):
    """A document with wrong fields; the code is this one if they are wrong in different ways."""

    code = "API.INVALID_DOCUMENT"
    fact: ClassVar[str] = "the document has fields that are wrong"
    advice = "Correct each of the fields in `errors`; nothing was created."

    @classmethod
    def of(cls, errors: Sequence[FieldError], *, n_found: int = 0) -> "InvalidDocument":
        """Make the error for these fields; `n_found` may be more than are listed."""
        first = errors[0]
        place = first.pointer or "the document"
        detail = f"{place}: {first.message}"
        more = max(n_found, len(errors)) - 1
        detail += f" (and {more} more)." if more else "."
        return cls(cls.fact, detail=detail, hint=cls.advice, errors=errors)


class UnknownField(InvalidDocument):
    """A field that no such document has."""

    code = "API.UNKNOWN_FIELD"
    fact = "the document has a field that is not known"
    advice = "Remove the field or correct its name; `/openapi.json` lists those that exist."


class WrongType(InvalidDocument):
    """A value of another type than the field has, or a field that is missing."""

    code = "API.WRONG_TYPE"
    fact = "the document has a value of the wrong type"
    advice = "Give each field in `errors` a value of the type it names."


class InvalidValue(InvalidDocument):
    """A value of the right type that is outside its limits."""

    code = "API.INVALID_VALUE"
    fact = "the document has a value outside its limits"
    advice = "Give each field in `errors` a value within the limits it names."


class EmptyCommand(InvalidDocument):
    """A command without a program."""

    code = "API.EMPTY_COMMAND"
    fact = "a command is empty"
    advice = "Name a program first; leave `command` out for a job that does nothing."


class NulCharacter(InvalidDocument):
    """A NUL where the operating system cannot take one."""

    code = "API.NUL_CHARACTER"
    fact = "a text holds a NUL character"
    advice = "Pass such data in a file; arguments and environment cannot hold NUL."


class NoWorkerFits(InvalidDocument):
    """A job that asks for more than any worker has."""

    code = "API.NO_WORKER_FITS"
    fact = "a job asks for more than any worker has"
    advice = "Ask for at most what `errors` names as the largest, or start a larger worker."


class ParentNotFound(InvalidDocument):
    """A parent that does not exist."""

    code = "API.PARENT_NOT_FOUND"
    fact = "a job names a parent that does not exist"
    advice = "Name a job of the same document, or one that was committed to the batch before."


class ParentNotBelow(InvalidDocument):
    """A parent whose number is not below its child's."""

    code = "API.PARENT_NOT_BELOW"
    fact = "a parent is not numbered below its child"
    advice = "List parents before their children, or name parents instead of numbering them."


class ParentCycle(InvalidDocument):
    """Named parents that wait for each other."""

    code = "API.PARENT_CYCLE"
    fact = "jobs wait for each other in a circle"
    advice = "Remove one of the parents on the path that `errors` shows."


class ParentAmbiguous(InvalidDocument):
    """A named parent of which there are several."""

    code = "API.PARENT_AMBIGUOUS"
    fact = "several jobs have the name of a parent"
    advice = "Give the jobs distinct names, or name the parent by its number."


class MalformedBody(Invalid):
    """A body that is not the JSON or msgpack it should be."""

    code = "API.MALFORMED_BODY"


class InvalidParameter(Invalid):
    """A parameter of the query or a header that is unknown or has an impossible value."""

    code = "API.INVALID_PARAMETER"


class BadId(Invalid):
    """A name of a thing that has not the form of one."""

    code = "API.INVALID_ID"

    def __init__(self, text: str, *, expected: str) -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"  # noqa: PLR2004 (a line of a terminal)
        super().__init__(
            f"{shown!r} is not an id", detail=f"{expected[0].upper()}{expected[1:]}.",
            hint="List batches with `weft ls`, jobs with `weft status b12`.",
        )  # fmt: skip


class Unauthenticated(WeftError):
    """No token, or one that is not valid."""

    code = "API.UNAUTHENTICATED"
    status = 401
    exit_code = 4


class Forbidden(WeftError):
    """The caller may not do this."""

    code = "API.FORBIDDEN"
    status = 403
    exit_code = 4


class AdminOnly(Forbidden):
    """Something for administrators of the tenant."""

    code = "API.ADMIN_ONLY"


class NotFound(WeftError):
    """It does not exist, or not for this caller."""

    code = "API.NOT_FOUND"
    status = 404
    exit_code = 2


class BatchNotFound(NotFound):
    """No such batch."""

    code = "API.BATCH_NOT_FOUND"

    def __init__(self, batch_id: int) -> None:
        super().__init__(
            f"batch b{batch_id} does not exist",
            detail="There is no batch of this number that you may see.",
            hint="List your batches with `weft ls`.",
        )


class JobNotFound(NotFound):
    """No such job."""

    code = "API.JOB_NOT_FOUND"

    def __init__(self, batch_id: int, job_id: int) -> None:
        super().__init__(
            f"job b{batch_id}.j{job_id} does not exist",
            detail="The batch has no committed job of this number, or you may not see it.",
            hint=f"List its jobs with `weft status b{batch_id}`.",
        )


class GroupNotFound(NotFound):
    """No such group."""

    code = "API.GROUP_NOT_FOUND"

    def __init__(self, batch_id: int, group: int | str) -> None:
        shown = f"g{group}" if isinstance(group, int) else group
        super().__init__(
            f"group {shown} of batch b{batch_id} does not exist",
            detail="The batch has no such committed group, or you may not see it.",
            hint=f"List its groups with `GET /v1/batches/{batch_id}/groups`.",
        )


class UpdateNotFound(NotFound):
    """No such update of this batch."""

    code = "API.UPDATE_NOT_FOUND"


class ProjectNotFound(NotFound):
    """No such billing project, or the caller is no member of it."""

    code = "API.PROJECT_NOT_FOUND"


class PoolNotFound(NotFound):
    """No such pool."""

    code = "WORKER.POOL_NOT_FOUND"


class UpdateIncomplete(Invalid):
    """An update is committed before all that it reserved is there."""

    code = "API.UPDATE_INCOMPLETE"


class OutsideUpdate(Invalid):
    """Jobs or groups that do not fit into what their update reserved."""

    code = "API.OUTSIDE_UPDATE"


class GroupTooDeep(Invalid):
    """A group below the deepest allowed level."""

    code = "API.GROUP_TOO_DEEP"


class OperationNotFound(NotFound):
    """No such operation."""

    code = "API.OPERATION_NOT_FOUND"


class TooManyGroups(Invalid):
    """More groups than a batch may have."""

    code = "API.TOO_MANY_GROUPS"


class TooManySets(Invalid):
    """More sets than a job may be in."""

    code = "API.TOO_MANY_SETS"


class NotASet(Invalid):
    """Only sets take jobs that are there already."""

    code = "API.NOT_A_SET"


class EventsGone(WeftError):
    """Events after that position were removed already."""

    code = "API.EVENTS_GONE"
    status = 410
    exit_code = 4


class RouteNotFound(NotFound):
    """No such path."""

    code = "API.ROUTE_NOT_FOUND"


class AttemptNotFound(NotFound):
    """No such attempt, or the job has none yet."""

    code = "API.ATTEMPT_NOT_FOUND"


class MethodNotAllowed(Invalid):
    """The path exists, but not for this method."""

    code = "API.METHOD_NOT_ALLOWED"
    status = 405
    allow: tuple[str, ...] = ()
    """The methods that the path takes."""


class RequestTimeout(Invalid):
    """The body did not arrive in time."""

    code = "API.REQUEST_TIMEOUT"
    status = 408


class MalformedRequest(Invalid):
    """Bytes that are not a request."""

    code = "API.MALFORMED_REQUEST"


class HeadTooLarge(Invalid):
    """A request whose head is larger than the limit."""

    code = "API.HEAD_TOO_LARGE"
    status = 431


class UnsupportedMedia(Invalid):
    """A body in a form that is not read here."""

    code = "API.UNSUPPORTED_MEDIA"
    status = 415


class RangeNotSatisfiable(Invalid):
    """A `Range` outside the output."""

    code = "API.RANGE_NOT_SATISFIABLE"
    status = 416


class Conflict(WeftError):
    """What was asked does not fit what is there."""

    code = "API.CONFLICT"
    status = 409
    exit_code = 4


class IdempotencyConflict(Conflict):
    """An idempotency key that was used for another request."""

    code = "API.IDEMPOTENCY_CONFLICT"


class UpdateCommitted(Conflict):
    """An update that is committed never changes."""

    code = "API.UPDATE_COMMITTED"


class BatchCancelled(Conflict):
    """Nothing can be added to what was cancelled."""

    code = "API.BATCH_CANCELLED"


class BunchDiffers(Conflict):
    """The same numbers of an update were filled before, with other jobs or groups."""

    code = "API.BUNCH_DIFFERS"


class BunchOverlap(Conflict):
    """A job of an update that was sent twice, in different bunches."""

    code = "API.BUNCH_OVERLAP"


class NoCallbackKey(Conflict):
    """This api does not know the key with which callbacks are signed."""

    code = "API.NO_CALLBACK_KEY"


class GroupExists(Conflict):
    """A group of this path, or a set of this name, is there already."""

    code = "API.GROUP_EXISTS"


class BatchFull(Conflict):
    """A batch that holds as many jobs as it can."""

    code = "API.BATCH_FULL"


class WorkerAlive(Conflict):
    """Another worker of this name lives."""

    code = "WORKER.NAME_TAKEN"


class IncarnationEnded(Conflict):
    """A worker that was declared lost."""

    code = "WORKER.INCARNATION_ENDED"


class EpochStale(Conflict):
    """A driver that does not lead any more tried to write."""

    code = "DRIVER.EPOCH_STALE"


class TooLarge(WeftError):
    """The request is larger than the limit."""

    code = "API.TOO_LARGE"
    status = 413
    exit_code = 2


class TooManyJobs(TooLarge):
    """More jobs or groups in one request than the limit."""

    code = "API.TOO_MANY_JOBS"


class TooManyParents(TooLarge):
    """More pairs of a job and its parent in one request than the limit."""

    code = "API.TOO_MANY_PARENTS"


class Unavailable(WeftError):
    """It may work later."""

    code = "API.UNAVAILABLE"
    status = 503
    exit_code = 3


class StoreUnavailable(Unavailable):
    """The database cannot be reached now."""

    code = "STORE.UNAVAILABLE"


class Internal(WeftError):
    """A defect of weft."""

    code = "API.INTERNAL"


class IllegalTransition(Internal):
    """A change of state that the state machine does not have; nothing was changed."""

    code = "STORE.ILLEGAL_TRANSITION"
