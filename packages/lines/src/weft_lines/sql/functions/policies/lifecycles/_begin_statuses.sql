-- _begin_statuses: give the jobs of an update their first statuses: those on the way to the status that their
--   state brings.
-- Safe to repeat: no.
-- Locks: job (those of the update, which nobody else changes yet).
-- Plan: jobs by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._begin_statuses(
    of_update weft.batch_update, of_lifecycle_id int, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH upd AS (
        UPDATE weft.job j
        SET lifecycle_id = of_lifecycle_id
        WHERE j.batch_id = of_update.batch_id
            AND j.job_id BETWEEN of_update.first_job AND of_update.first_job + of_update.n_jobs - 1
        RETURNING j.job_id, j.state
    ),
    new AS (
        INSERT INTO weft.job_status_change (batch_id, job_id, n, tenant_id, at, status, state, actor)
        SELECT
            of_update.batch_id,
            u.job_id,
            s.n,
            of_update.tenant_id,
            _begin_statuses.at + s.n * interval '1 microsecond',
            s.status,
            u.state,
            'user ' || x.name
        FROM upd u
        JOIN weft.tenant_user x ON x.user_id = of_update.user_id
        JOIN weft.lifecycle_move m ON m.lifecycle_id = of_lifecycle_id
            AND m.state = u.state
            AND m.from_status = 0
            AND m.within = 0
        CROSS JOIN LATERAL unnest(m.way) WITH ORDINALITY s (status, n)
        RETURNING job_id, n, at, status
    )
    INSERT INTO weft.job_status (batch_id, job_id, tenant_id, status, since, n)
    SELECT DISTINCT ON (w.job_id) of_update.batch_id, w.job_id, of_update.tenant_id, w.status, w.at, w.n
    FROM new w
    ORDER BY w.job_id, w.n DESC;
END $$;
