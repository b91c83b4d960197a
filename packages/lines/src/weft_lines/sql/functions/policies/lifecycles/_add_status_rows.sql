-- _add_status_rows: write the next rows of the history of a job, and its status if that changes.
-- Safe to repeat: no.
-- For: _bring_statuses, change_status, which have the job's row.
-- Locks: job_status (with the job).
-- Plan: by key.
-- way: the statuses that follow one another.
-- at: of the last.
-- forbidden: the core moved, and its status stays, all that `way` holds.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_status_rows(
    of_job weft.job, way smallint[], forbidden boolean, actor text, subtype text, message text, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH moved AS (
        -- Never before the last row, also if the clock was set back.
        UPDATE weft.job_status s
        SET
            status = way[cardinality(way)],
            n = s.n + cardinality(way),
            since = greatest(_add_status_rows.at, s.since + cardinality(way) * interval '1 microsecond')
        WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id
        RETURNING s.n, s.since
    )
    INSERT INTO weft.job_status_change (
        batch_id, job_id, n, tenant_id, at, status, state, forbidden, attempt, actor, subtype, message
    )
    SELECT
        of_job.batch_id, of_job.job_id, m.n - w.later, of_job.tenant_id,
        m.since - w.later * interval '1 microsecond',
        w.status, of_job.state, _add_status_rows.forbidden, nullif(of_job.attempt, 0), _add_status_rows.actor,
        CASE WHEN w.later = 0 THEN _add_status_rows.subtype END,
        CASE WHEN w.later = 0 THEN _add_status_rows.message END
    FROM moved m,
        LATERAL (
            SELECT u.status, cardinality(way) - u.n AS later FROM unnest(way) WITH ORDINALITY u (status, n)
        ) w;
END $$;
