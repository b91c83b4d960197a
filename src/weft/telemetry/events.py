"""The catalogue of log events: every name that weft may log, with what it says and which facts it
carries.

A new event is one line here. A name is an interface: changing it or its keys needs a changelog
entry. The keys follow the dot in each text. Bound for all lines of a
process are `role` and `pid`, and while they are known `trace_id`, `batch`, `job`, `attempt` and
`worker`.
"""

from types import MappingProxyType

EVENTS = MappingProxyType(
    {
        # every role
        "role.started": "this process is ready · version, home",
        "role.faults_armed": "a test lets this process die or fail: `WEFT_FAULTS` is set · points",
        "role.waiting": "this program waits for the schema that it needs · error, detail, hint",
        "role.stopping": "this process was told to end · signal",
        "role.stopped": "this process has ended cleanly · ms",
        "role.failed": "this process cannot go on · code, error, detail, hint",
        "library.logged": "a library logged a message · logger, message",
        "store.called": "a database function was called · function, ms, failed",
        "database.unreachable": "the database is away or refuses the login; trying again · "
        "database, error, detail, hint",
        "database.reached": "the database answers again · database, silent_s",
        "notices.lost": "the listening connection was lost; reconnecting · error",
        # weft up
        "up.reclaimed": "processes left by a killed supervisor were ended · ended",
        "up.database_ready": "the embedded database accepts connections · started_pid, ms",
        "up.database_failed": "the embedded database does not start · error, detail, hint",
        "up.migrated": "the schema was brought to this program's version · migrations, last",
        "up.tenant_missing": "a setting names a tenant that is not there · setting, tenant, hint",
        "up.user_missing": "a setting names a user who is not there · setting, tenant, user, hint",
        "up.role_started": "a role's process was started · started, started_pid",
        "up.role_ready": "a role is ready · started, ms",
        "up.role_ended": "a process ended by itself; restarting it · started, started_pid, "
        "end, lived_s, restart_in_s, said",
        "up.role_drained": "a drained worker has ended, and is not restarted · started, "
        "started_pid",
        "up.role_asleep": "a driver is stopped by a signal; ending it · started, started_pid",
        "up.role_killed": "a role did not stop in time · started, after_s",
        "up.log_not_rotated": "a log is too large and could not be moved · path, error",
        "up.client_file_not_written": "cannot record the url for clients · error, detail, hint",
        "up.started": "all is ready · url, home",
        "up.stopping": "told to stop · signal",
        "up.stopped": "all processes have ended · ms",
        # driver
        "driver.state_changed": "this driver now leads or stands by · state, epoch",
        "driver.lead_lost": "a newer leader exists · error",
        "driver.loop_failed": "a mistake in a loop; it begins anew · loop, failures (in a row)",
        "driver.term_ended": "this driver no longer leads · epoch",
        "driver.unavailable": "the database does not answer; trying again · error, failures",
        "jobs.swept": "jobs of cancelled groups were settled · jobs",
        "deadlines.passed": "jobs reached their deadlines · jobs",
        "gates.passed": "jobs were admitted by the driver, or gave their places back · jobs",
        "jobs.released": "blocked jobs are ready again · jobs",
        "condition.tested": "a test said something new about what jobs wait for · condition, "
        "tester, passed, message",
        "condition.closed": "no job waits for this any more · condition, tester",
        "conditions.released": "jobs that waited for conditions are ready again, or were given "
        "up · jobs, failed",
        "failures.acknowledged": "a person has seen to failed jobs · batch, jobs, user",
        "holds.swept": "held jobs were parked, or released ones listed again · jobs",
        "worker.lost": "a worker fell silent; its jobs are ready again · worker, attempts, "
        "silent_s",
        "jobs.preempted": "running jobs are stopped for a job of a queue of higher priority · "
        "pool, worker, jobs, waiting",
        "limit.reached": "a limit is reached: what it is of is paused or cancelled · "
        "tenant, kind, name, measure, amount, on_limit",
        "limit.lifted": "it is below its limit again; its batches go on · tenant, kind, name, "
        "measure, amount",
        "limit.near": "what starts soon could exceed it; jobs start as they fit below it · "
        "tenant, kind, name, measure, amount",
        "limit.slowed": "a soft limit is exceeded; the jobs weigh half · "
        "tenant, kind, name, measure, amount",
        "limit.eased": "it is below its soft limit again · tenant, kind, name, measure, amount",
        "attempt.overdue": "an attempt is stopped beyond a limit of its queue · job, attempt, "
        "worker, message, goes_on",
        "worker.given_up": "a worker has not stopped an attempt in time; its jobs are ready "
        "again · worker",
        "jobs.overdue": "jobs ended because they had waited beyond a limit of their queue · "
        "batch, jobs, message",
        "jobs.orphaned": "jobs that have not ended are with nobody and will never go on; "
        "nothing is repaired · jobs, job (the first one), job_state, hint",
        "worker.black_hole": "a worker on which attempts fail at once is cordoned, tries a job, "
        "waits for the next try or is uncordoned · worker, kind, why",
        "operation.failed": "an operation cannot go on · operation, kind, code, error",
        "transport.away": "a transport cannot be reached; its messages wait · transport, error",
        "transport.consumer_failed": "a queue is not consumed, by a mistake; it is tried again "
        "· transport, queue",
        "topics.poison": "a record of a topic cannot be used; it is passed over · topic, "
        "partition, offset, error, bytes",
        "topics.submitted": "a job that a record brought is submitted · job, batch, trace_id",
        "topics.failed": "a record of a topic could not be taken in, by a mistake; it is passed "
        "over · topic",
        "submissions.submitted": "a batch that came by a transport is submitted · transport, "
        "batch, trace_id",
        "submissions.refused": "a batch that came by a transport is refused; its message is "
        "dead · transport, code, error, trace_id",
        "submissions.failed": "the same, by a mistake of weft · transport",
        "transport.attempt_lost": "foreign programs told nothing of it for too long · batch, job",
        "transport.offers_lost": "nobody answered: jobs are ready again · transport, queue, jobs",
        "transport.dead_message": "a message that nobody wants is kept · transport, source, "
        "reason, bytes",
        "transport.letter_acknowledged": "a person has seen to a dead message · letter, user",
        "transport.mail_failed": "a letter about dead messages was not taken · error",
        "transport.stuck": "a record of a partition holds up very many that are done · group, "
        "topic, partition, offset, behind",
        "transport.back": "a transport can be reached again · transport",
        "worker.kept": "a worker is kept for a large job · incarnation, batch_id, job_id",
        "pool.decided": "a machine is made, cordoned or deleted · pool, kind, machine, why",
        "pool.provider_failed": "a provider could not make or delete a machine · pool, "
        "machine, error",
        "pool.list_failed": "a provider could not list its machines · provider, error",
        "pool.reconciled": "a provider has a machine that weft has not asked for, made it twice, "
        "or has it no more; it is deleted · provider, pool, machine, finding",
        "pool.leftover_found": "machines left something at their provider; it goes after "
        "`leftover_keep_s` · provider, kind, id, name, region",
        "pool.leftover_removed": "it is removed · provider, kind, id, name, region",
        "pool.leftover_failed": "a provider could not list or remove what is left · provider, "
        "error",
        "callback.delivered": "a callback or message was delivered · delivery, batch, group, job, "
        "attempts, status, ms",
        "callback.failed": "a callback or message failed; trying again · delivery, batch, group, "
        "job, attempts, status, error, retry_in_s, ms",
        "callback.held": "a check of a product failed, and a person decides about its message · "
        "delivery, batch, group, job, attempts, status, ms, error",
        "callback.outcome_lost": "a mistake after a delivery, which is made again · delivery",
        "callback.given_up": "a callback or message is given up · delivery, batch, group, job, "
        "attempts, status, error, ms",
        "callback.no_key": "callbacks wait: this driver has no key to sign them · hint",
        "schedules.moved": "schedules were due · schedules, runs, missed",
        "retention.removed": "old rows were removed · rows",
        "retention.outputs_removed": "output and files of old batches were removed · batches",
        # worker
        "worker.registered": "the worker is registered and takes jobs · worker_id, cpu_m, "
        "memory_mib",
        "worker.engine_away": "the engine of a gateway is away; it is asked again · held, why",
        "worker.engine_odd": "an answer of a gateway's engine is not understood; it is asked "
        "again · call, why, source",
        "worker.output_lost": "the node of an ended job does not give its output · attempt, why",
        "worker.node_avoided": "attempts fail at once on a node of an engine; it gets none for "
        "a time · node, seconds, why",
        "worker.image_missing": "an image cannot be had · image, why",
        "worker.image_pulled": "an image was unpacked · image, ms, size",
        "worker.image_removed": "an image went, to keep the cache within its bytes · image, size",
        "worker.environment_failed": "requirements of jobs cannot be installed · environment, why",
        "worker.environment_made": "requirements of jobs were installed · environment, ms, size",
        "worker.environment_removed": "installed requirements went, to keep the cache within its "
        "bytes · environment, size",
        "worker.environment_stopped": "no job waits for requirements any longer · environment",
        "worker.spawner_found": "the agent has found its spawner · incarnation, pid_namespace",
        "worker.jobs_adopted": "jobs of an earlier agent continue · live, queued, ended, killed, "
        "handed_back",
        "worker.session_failed": "the agent begins anew, after a mistake · failures (in a row)",
        "worker.claim_failed": "a claim failed with the ends that it reported, by a mistake; they "
        "are reported by themselves · ends",
        "worker.spawner_started": "a spawner was started · spawner_pid",
        "worker.spawner_outdated": "the spawner has another release; replacing it · version",
        "worker.spawner_lost": "the spawner died with its jobs; starting a new one",
        "worker.spawner_slow": "the spawner did not end in time",
        "worker.leftovers_killed": "processes of a dead spawner were killed · pids",
        "worker.jobs_not_limited": "no cgroup is delegated, so nothing limits jobs · why",
        "worker.database_went_back": "the database gives an attempt that this worker has "
        "already: it was restored from a copy; ending all, to begin anew · why",
        "worker.server_replaced": "another server of the database answers; registering anew",
        "worker.declared_lost": "the database declared this worker lost; killing its jobs",
        "logs.removed": "the output of deleted batches was removed · batches, first",
        "logs.not_shipped": "output of a worker outside could not be brought to the api · error",
        "logs.cut": "the api keeps no more output of an attempt of a worker outside · path, why",
        "logs.not_in_bucket": "output could not be shipped to the bucket; tried again · error",
        "bucket.removed": "output of deleted batches was removed from the bucket · bytes",
        "bucket.not_looked_at": "the api could not look for what to remove in the bucket · error",
        "spool.removed": "output of workers outside was removed by the api · bytes, why",
        "link.not_answered": "the api was not told of the files of a running job · error",
        "link.not_shared": "calls of workers outside failed together, and are asked one by one · "
        "calls, error",
        "spool.not_looked_at": "the api could not look at output of workers outside · error",
        "logs.not_removed": "the output of deleted batches could not be removed · error",
        "checkpoints.removed": "what jobs that have ended had kept was removed · count, first",
        "checkpoints.not_removed": "what jobs had kept could not be removed · error",
        "checkpoints.not_kept": "the checkpoint of a job of a worker outside was not brought to "
        "the api · key, error",
        "checkpoints.brought": "the checkpoint of a job was brought to a worker outside · key, "
        "bytes, attempt",
        "checkpoints.not_brought": "the checkpoint of a job could not be brought to a worker "
        "outside · key, error",
        "transport.not_kept": "a dead message is dropped, by a mistake · transport, bytes",
        "transport.hearing_failed": "a mistake while a transport is heard; it is heard anew "
        "· transport",
        "transport.telling_failed": "a mistake while events are told; they are told anew "
        "· transport",
        "transport.event_cut": "an event is told without its detail, by a mistake · id",
        "schedules.put_off": "a schedule waits for an hour, by a mistake · schedule",
        "pool.round_failed": "nothing is decided for a pool in this round, by a mistake · pool",
        "transport.message_refused": "a message of a transport is none of weft's; it is dead · "
        "transport, queue, error",
        "topics.line": "a line of a job that a record of a topic had run here · job, "
        "trace_id, line",
        "worker.reserved": "this worker has claimed the job that it is kept for · key",
        "worker.filled": "this worker is kept for a job and starts a shorter one before it · key",
        "worker.passed": "this worker starts a job before another that waits for room here · key, "
        "waiting",
        "worker.disk_full": "a disk of this worker is nearly full: it starts no more jobs until "
        "there is room · directory, free_bytes",
        "worker.disk_free": "there is room on the disks of this worker again: it starts jobs",
        "worker.drained": "this worker was told to drain and nothing runs; it ends",
        "worker.drain_incomplete": "some ends could not be reported in time · left",
        "attempt.ended": "an attempt ended · key, reason, trace_id, executor, ms",
        "attempt.files_failed": "files of an attempt could not be brought, by a mistake · key",
        "attempt.not_handed_over": "jobs do not get what they need, by a mistake · key (a first "
        "one), jobs",
        "attempt.end_mistaken": "the end of an attempt is recorded as a fault of the system, by "
        "a mistake · key",
        "attempt.not_kept": "outputs or products of an attempt are not kept, by a mistake · key",
        "attempt.ends_stale": "attempts ended that this worker no longer holds · count, names",
        # api
        "request.answered": "a request was answered · method, route, status, client (its "
        "address), user and token (null on open routes and for strangers), ms, code; foreign_id "
        "if a door's client asked about a job; traceparent if the caller is in a trace",
        "request.failed": "a request hit a defect of weft · path",
        "feed.failed": "events of a user could not be read; trying again · exc_info",
        "pools.saved": "an operator changed the pools · user, changed",
        "condition.changed": "a person tested, released or gave up what jobs wait for "
        "· condition, user, change",
        "source.failed": "a source could not be read; it is tried again, later each time · "
        "source, error",
        "source.recovered": "a source that failed was read again · source, failures",
        "source.read": "a source has new items · source, items",
        "source.tried": "somebody read a source to try it · source, user, items",
        "source.changed": "a source was paused, resumed or replayed · source, user, change",
        "items.submitted": "items became jobs · source, batch, jobs, user",
        "items.late": "items of a series came after what follows them · source, items, again",
        "series.rerun": "somebody let items of a series run again · source, series, items, user",
        "items.postponed": "items could not become jobs now · source, error, wait_s",
        "items.failed": "making jobs of items hit a defect · source",
        "parameter.set": "an operator set a parameter · parameter, version, user",
        "setup.saved": "an operator saved the file of a production line · setup, changed, user",
        "setup.removed": "an operator removed one · setup, user",
        "licence.set": "an operator set how many licences there are · licence, n, user",
        "licence.removed": "an operator removed a licence · licence, user",
        "app.saved": "an operator gave an application other content · app, revision, user",
        "app.removed": "an operator removed an application · app, user",
        "files.tried": "somebody looked for files before jobs need them · user, files",
        "store.set": "an operator set a store of files · store, url, user",
        "store.removed": "an operator removed a store of files · store, user",
        "secret.set": "a user set a secret of theirs · secret (its name), user",
        "secret.removed": "a user removed a secret of theirs · secret (its name), user",
        "secret.rotated": "an administrator encrypted all secrets with the first key · n, user",
        "worker.invited": "a worker has joined by an invitation · worker, token (its number)",
        "token.created": "a user made a token · token (its number), user",
        "token.revoked": "a user revoked a token · token (its number), user",
        "login_link.created": "a user made a link that opens a session in a browser · user",
        "session.opened": "a browser has opened a session · session (its number), user",
        "session.ended": "a user ended a session · session (its number; none: all), user",
        "project.changed": "an administrator changed a billing project · project, user, change",
        "tenant.created": "an administrator made a tenant with its first user · tenant, user, by",
        "tenant.set": "an administrator changed what holds in a tenant · tenant, on_user_removal, "
        "allowed (kinds that have a list), output_keep_s, output_keep_bytes, by",
        "user.added": "an administrator let a user in · user, role, by",
        "user.role_set": "an administrator gave a user another role · user, role, by",
        "limit.set": "somebody changed a limit of what is used · kind, name, measure, "
        "amount_max, amount_soft_max, by",
        "quota.set": "an administrator changed a quota · kind, name, jobs, batches, "
        "cores, bytes, by",
        "user.removed": "an administrator removed a user · user, on_user_removal (what becomes of "
        "their batches), by",
        "login.refused": "an issuer has not let somebody in, or was not believed · issuer, why",
        "issuer.failed": "an issuer at which people log in did not answer as it should · issuer, "
        "why",
        "keys.unreadable": "keys of an issuer of tokens could not be read · source, why",
        "token.refused": "a JSON web token was not believed · why",
        "callers.forgotten": "a token or (below 0) a user has changed, or any may have · token",
        "queues.saved": "an operator changed the queues of a tenant · user, changed",
        "schedule.changed": "a user added, changed or removed a schedule · schedule, user, change",
        "schedule.submitted": "a run was submitted · schedule, due_at, batch, user",
        "schedule.refused": "a run was refused · schedule, due_at, user, code, error",
        "schedule.paused": "a schedule was refused too often in a row · schedule, user, hint",
        "schedules.failed": "runs of schedules could not be submitted; trying again · exc_info",
        "trail.failed": "a refused request could not be added to the trail · code, error",
        "api.listening": "requests are served · url, host, port",
        "tls.reloaded": "a new certificate is in use · certificate",
        "tls.not_reloaded": "the certificate or its key has changed and cannot be used; the "
        "former one stays in use · error, detail, hint",
    }
)
