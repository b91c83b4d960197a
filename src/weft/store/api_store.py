"""The store of the api, composed of a part for each subject."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from weft.ports.store import GroupLimits
from weft.store.apps import Apps
from weft.store.batches import Batches
from weft.store.billing import Billing
from weft.store.callbacks import Callbacks
from weft.store.callers import Callers
from weft.store.conditions import Conditions
from weft.store.database import open_database
from weft.store.declared import (
    calls,
    nothing,
)
from weft.store.events import HeardEvents
from weft.store.failures import Failures
from weft.store.file_stores import FileStores
from weft.store.files import JobFiles
from weft.store.foreign_jobs import DoorJobs
from weft.store.groups import Groups
from weft.store.jobs import Jobs
from weft.store.licences import Licences
from weft.store.lifecycles import Lifecycles
from weft.store.limits import Limits
from weft.store.lines import Lines
from weft.store.notices import PostgresNotices
from weft.store.operations import OperationCalls
from weft.store.overview import Overview
from weft.store.parameters import Parameters
from weft.store.permissions import Permissions
from weft.store.pictures import Pictures
from weft.store.pools import Pools
from weft.store.products import Products
from weft.store.projects import Projects
from weft.store.queries import QUERIES_AT_ONCE
from weft.store.queues import Queues
from weft.store.quotas import Quotas
from weft.store.retries import Retries
from weft.store.saved_queries import SavedQueries
from weft.store.schedules import Schedules
from weft.store.schema_range import check_schema
from weft.store.secrets import Secrets
from weft.store.sessions import Sessions
from weft.store.sets import Sets
from weft.store.setups import Setups
from weft.store.sinks import Sinks
from weft.store.sources import Sources
from weft.store.submission import SubmissionCalls
from weft.store.system import System
from weft.store.tenants import Tenants
from weft.store.tokens import Tokens
from weft.store.trail import Trail
from weft.store.transports import Transports
from weft.store.turns import Turns
from weft.store.users import Users
from weft.store.why import Why
from weft.store.workers import Workers

API_TIMEOUT_S = 60.0
CONNECTIONS = 8


class ApiStore(
    Batches,
    Groups,
    Jobs,
    DoorJobs,
    Products,
    SubmissionCalls,
    Sets,
    Retries,
    OperationCalls,
    JobFiles,
    FileStores,
    HeardEvents,
    Callbacks,
    Schedules,
    Projects,
    Billing,
    Workers,
    Pools,
    Queues,
    Overview,
    Lines,
    Setups,
    Lifecycles,
    Sinks,
    Sources,
    Parameters,
    Apps,
    Pictures,
    SavedQueries,
    Secrets,
    Callers,
    Sessions,
    Tokens,
    Tenants,
    Users,
    Permissions,
    Limits,
    Quotas,
    Licences,
    System,
    Trail,
    Transports,
    Failures,
    Why,
    Conditions,
):
    """The api's calls to its database."""

    notices: PostgresNotices

    async def check_schema(self) -> None:
        """Return if this program may use the database."""
        await check_schema(self._database, "weft_api")

    @calls(nothing, "events_now")
    async def ready(self) -> None:
        """Return if the database answers; otherwise raise `Unavailable`."""


@asynccontextmanager
async def open_api_store(
    dsn: str,
    *,
    pool_size: int = CONNECTIONS,
    user_connections_max: int | None = None,
    limits: GroupLimits | None = None,
    pooler: str | None = None,
) -> AsyncIterator[ApiStore]:
    """Open the store of the api, as role `weft_api`."""
    async with open_database(
        dsn,
        connections_max=pool_size,
        timeout_s=API_TIMEOUT_S,
        user_connections_max=user_connections_max,
        pooler=pooler,
    ) as database:
        store = ApiStore(database, limits or GroupLimits())
        store.notices = PostgresNotices(dsn)
        store._querying = asyncio.Semaphore(QUERIES_AT_ONCE)  # noqa: SLF001 (its own factory)
        most = user_connections_max and QUERIES_AT_ONCE - 1
        store._searches = Turns(most, QUERIES_AT_ONCE, others_s=None)  # noqa: SLF001 (as above)
        store._listener_id = uuid.uuid4()  # noqa: SLF001 (its own factory)
        yield store
