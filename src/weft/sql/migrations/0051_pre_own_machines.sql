-- Machines that are made for one job (ADR 40).
ALTER TABLE weft.machine
    ADD COLUMN for_batch_id bigint,
    ADD COLUMN for_job_id int,           -- the job that it is made for; NULL: for all
    ADD COLUMN released_at timestamptz,  -- since when it is no longer that job's; its job may be removed later
    ADD COLUMN missed boolean NOT NULL DEFAULT false,  -- the job still waited for it at that time
    ADD CONSTRAINT machine_job_check CHECK ((for_batch_id IS NULL) = (for_job_id IS NULL));
CREATE UNIQUE INDEX machine_job_idx ON weft.machine (for_batch_id, for_job_id) WHERE for_batch_id IS NOT NULL AND released_at IS NULL;
CREATE INDEX machine_jobs_idx ON weft.machine (for_batch_id, for_job_id) WHERE for_batch_id IS NOT NULL;
CREATE INDEX lane_machine_idx ON weft.lane (lane_id) WHERE asks ? 'machine';
