-- bare_jobs: the reference of `weft bench submit`: the row of a job with one index beside its key, and
--   nothing else.
DROP SCHEMA IF EXISTS bare CASCADE;
CREATE SCHEMA bare;
CREATE TABLE bare.job (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    user_id int NOT NULL,
    group_id int NOT NULL,
    update_id int NOT NULL,
    state smallint NOT NULL,
    attempt smallint NOT NULL DEFAULT 0,
    pending_parents int NOT NULL DEFAULT 0,
    queue_id smallint NOT NULL,
    priority smallint NOT NULL DEFAULT 0,
    cpu_m int NOT NULL,
    memory_mib int NOT NULL,
    always_run boolean NOT NULL DEFAULT false,
    PRIMARY KEY (batch_id, job_id)
) WITH (fillfactor = 80);
CREATE INDEX job_ready_idx ON bare.job (queue_id, batch_id, job_id) WHERE state = 1;
