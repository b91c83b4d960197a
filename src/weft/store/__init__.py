"""The store on asyncpg: one method per SQL function, all through one timed and counted call.

The three callers log in as three database roles with different rights: three classes. The header
of `sql/functions/*/NAME.sql` gives a call's locks and its plan.

Owns connections, their pools, and the translation of database errors into `WeftError`. Must not
hold query text (that is in `sql/`) nor decide anything (that is in `core/` and in SQL).
Each class is loaded at its first use: a role needs one of the three, `weft down` none.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.store.admin import OWNER, Admin, AuditFinding, CorrectedRates, open_admin
    from weft.store.api_store import ApiStore, open_api_store
    from weft.store.contract import OlderProgramsConnected
    from weft.store.driver_store import DriverStore, open_driver_store
    from weft.store.migrate import MigrationStatus, SchemaTooNew, ServerTooOld
    from weft.store.offered_jobs import TopicRuns, open_topic_runs
    from weft.store.worker_store import PostgresWorkerStore, open_worker_store

__all__ = [
    "OWNER",
    "Admin",
    "ApiStore",
    "AuditFinding",
    "CorrectedRates",
    "DriverStore",
    "MigrationStatus",
    "OlderProgramsConnected",
    "PostgresWorkerStore",
    "SchemaTooNew",
    "ServerTooOld",
    "TopicRuns",
    "open_admin",
    "open_api_store",
    "open_driver_store",
    "open_topic_runs",
    "open_worker_store",
]
_MODULES = {
    "admin": "OWNER Admin AuditFinding CorrectedRates open_admin",
    "api_store": "ApiStore open_api_store",
    "contract": "OlderProgramsConnected",
    "driver_store": "DriverStore open_driver_store",
    "migrate": "MigrationStatus SchemaTooNew ServerTooOld",
    "offered_jobs": "TopicRuns open_topic_runs",
    "worker_store": "PostgresWorkerStore open_worker_store",
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"weft.store.{module}"), name)
    raise AttributeError(f"module 'weft.store' has no attribute {name!r}")
