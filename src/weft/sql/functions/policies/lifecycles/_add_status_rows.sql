-- _add_status_rows: write the next rows of the history of a job, and its status if that changes.
-- Called by: _bring_status, change_status, which have the job's row.   Safe to repeat: no.
-- Locks: job_status (with the job).   Plan: by key.
-- way: the statuses that follow one another.   forbidden: the core moved, and its status stays, which is all that `way` holds.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_status_rows(of_job weft.job, way smallint[], forbidden boolean, actor text, subtype text,
    message text, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_old weft.job_status; v_at timestamptz;
BEGIN
    SELECT s.* INTO v_old FROM weft.job_status s WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id;
    v_at := greatest(_add_status_rows.at, v_old.since);  -- also if the clock was set back
    INSERT INTO weft.job_status_change (batch_id, job_id, n, tenant_id, at, status, state, forbidden, attempt, actor, subtype, message)
    SELECT of_job.batch_id, of_job.job_id, v_old.n + w.n, of_job.tenant_id, v_at + w.n * interval '1 microsecond', w.status,
        of_job.state, _add_status_rows.forbidden, nullif(of_job.attempt, 0), _add_status_rows.actor,
        CASE WHEN w.n = cardinality(way) THEN _add_status_rows.subtype END,
        CASE WHEN w.n = cardinality(way) THEN _add_status_rows.message END
    FROM unnest(way) WITH ORDINALITY w (status, n);
    UPDATE weft.job_status s
    SET status = way[cardinality(way)], since = v_at + cardinality(way) * interval '1 microsecond', n = s.n + cardinality(way)
    WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id;
END $$;
