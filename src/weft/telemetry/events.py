"""The catalogue of log events: every name that weft may log, with what it says and which facts it
carries.

A new event is one line here. A name is an interface: changing it or its keys needs a changelog
entry. After the dot between the two parts of a text stand the keys. Bound for all lines of a
process are `role` and `pid`, and while they are known `trace_id`, `batch`, `job`, `attempt` and
`worker`.
"""

from types import MappingProxyType

EVENTS = MappingProxyType(
    {
        # every role
        "role.started": "this process is ready · version, home",
        "role.stopping": "this process was told to end · signal",
        "role.stopped": "this process has ended cleanly · ms",
        "role.failed": "this process cannot go on · code, error, detail, hint",
        "library.logged": "a library said something · logger, message",
        "store.called": "a database function was called · function, ms, failed",
        "notices.lost": "the connection that listens was lost; it is made again · error",
        # weft up
        "up.reclaimed": "what a killed supervisor left was ended · ended",
        "up.database_ready": "the embedded database accepts connections · started_pid, ms",
        "up.database_failed": "the embedded database does not start · error, detail, hint",
        "up.migrated": "the schema was brought to this program's version · migrations, last",
        "up.role_started": "a role's process was started · started, started_pid",
        "up.role_ready": "a role says that it is ready · started, ms",
        "up.role_ended": "a process ended by itself and is started again · started, started_pid, "
        "end, lived_s, restart_in_s, said",
        "up.role_asleep": "a driver was stopped by a signal and is ended · started, started_pid",
        "up.role_killed": "a role did not stop in time · started, after_s",
        "up.log_not_rotated": "a log is too large and could not be moved · path, error",
        "up.client_file_not_written": "clients cannot be told the url · error, detail, hint",
        "up.started": "all is ready · url, home",
        "up.stopping": "told to stop · signal",
        "up.stopped": "all processes have ended · ms",
        # driver
        "driver.state_changed": "this driver leads or stands by now · state, epoch",
        "driver.lead_lost": "a newer leader exists · error",
        "driver.term_ended": "this driver leads no more · epoch",
        "driver.unavailable": "the database does not answer; tried again · error, failures",
        "jobs.swept": "jobs of cancelled groups were settled · jobs",
        "gates.passed": "jobs were admitted by the driver, or gave their places back · jobs",
        "holds.swept": "held jobs were parked, or released ones listed again · jobs",
        "worker.lost": "a worker fell silent; its jobs are ready again · worker, attempts, "
        "silent_s",
        "operation.failed": "an operation cannot go on · operation, kind, code, error",
        "callback.delivered": "a receiver was told of a completion · delivery, batch, group, "
        "attempts, status, ms",
        "callback.failed": "a receiver does not take it; tried again · delivery, batch, group, "
        "attempts, status, error, retry_in_s, ms",
        "callback.given_up": "a receiver has not taken it for too long · delivery, batch, group, "
        "attempts, status, error, ms",
        "callback.no_key": "callbacks wait: this driver cannot sign them · hint",
        "retention.removed": "what was too old was removed · rows",
        # worker
        "worker.registered": "the database knows this worker; it takes jobs · worker_id, cpu_m, "
        "memory_mib",
        "worker.spawner_found": "the agent has found its spawner · incarnation, pid_namespace",
        "worker.jobs_adopted": "jobs of an older agent go on · live, queued, ended, killed, "
        "handed_back",
        "worker.spawner_started": "a spawner was started · spawner_pid",
        "worker.spawner_outdated": "the spawner is of another release and is replaced · version",
        "worker.spawner_lost": "the spawner died, and its jobs with it; a new one is started",
        "worker.spawner_slow": "the spawner has not ended in time",
        "worker.leftovers_killed": "processes of a dead spawner were killed · pids",
        "worker.declared_lost": "the database gave this worker up; its jobs are killed",
        "worker.drain_incomplete": "not all ends could be reported in time · left",
        "attempt.ended": "an attempt ended · key, reason",
        "attempt.ends_stale": "attempts ended that this worker no longer holds · count, first",
        # api
        "request.answered": "a request was answered · method, route, status, ms, code",
        "request.failed": "a request met a mistake of ours · path",
        "feed.failed": "events of a user could not be read; tried again · exc_info",
        "api.listening": "requests are served · host, port",
    }
)
