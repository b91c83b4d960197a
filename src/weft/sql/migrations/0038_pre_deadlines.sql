-- Deadlines: jobs that must have ended by a date. Waiting ones end as errors as soon as they could not, running ones at the date.
INSERT INTO weft.attempt_reason (reason, word) VALUES (14, 'deadline');
INSERT INTO weft.job_transition (from_state, to_state) VALUES (0, 8), (2, 8);
-- One row for a job, or for all jobs of an array.
CREATE TABLE weft.job_deadline (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    first_job int NOT NULL,
    last_job int NOT NULL,
    tenant_id int NOT NULL,
    latest_start timestamptz NOT NULL,  -- the deadline minus the time limit of the jobs
    deadline timestamptz NOT NULL,
    due_at timestamptz,                 -- when the driver has to look at them; NULL: not committed, or never again
    sweep_job int NOT NULL,             -- it has looked at them up to this one
    PRIMARY KEY (batch_id, first_job)
);
CREATE INDEX job_deadline_due_at_idx ON weft.job_deadline (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE weft.job_deadline ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.job_deadline TO weft_tenant, weft_system;
CREATE POLICY tenant_rows ON weft.job_deadline TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.job_deadline TO weft_system USING (true);
-- Jobs that became ready when they were late; the driver ends them.
CREATE TABLE weft.late_job (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);
ALTER TABLE weft.late_job ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.late_job TO weft_tenant, weft_system;
CREATE POLICY tenant_rows ON weft.late_job TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.late_job TO weft_system USING (true);
-- A running job is stopped because its deadline has passed, not by a user.
ALTER TABLE weft.job_cancel ADD COLUMN late boolean NOT NULL DEFAULT false;
-- Queries for failures find jobs that ended late without an attempt.
CREATE INDEX job_change_error_idx ON weft.job_change (batch_id, job_id) WHERE to_state = 8;
-- The masks of the table, with the two new transitions.
CREATE OR REPLACE TRIGGER job_transition_is_legal AFTER UPDATE OF state ON weft.job FOR EACH ROW
WHEN (old.state <> new.state AND (('{770,796,818,786,994,898,0,3,3,3}'::int[])[old.state + 1] >> new.state) & 1 = 0)
EXECUTE FUNCTION weft._refuse_transition();
-- Queries read which jobs these are, and nothing else of the changes.
GRANT SELECT (batch_id, job_id, tenant_id, to_state) ON weft.job_change TO weft_api, weft_driver;
CREATE POLICY query_rows ON weft.job_change FOR SELECT TO weft_api, weft_driver
    USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
