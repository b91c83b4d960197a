-- _lock_jobs: lock jobs of a batch, and keep claims off the batch until the commit. Raises WF101, WF102.
-- Safe to repeat: yes.
-- Locks: batch (exclusive); job (running ones first, then in key order).
-- Plan: jobs by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_jobs(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_wrong int;
BEGIN
    PERFORM weft._check_jobs(of_batch_id, of_job_ids);
    SELECT x
    INTO v_wrong
    FROM unnest(of_job_ids) x
    WHERE (
        SELECT (
            SELECT u.committed_at
            FROM weft.batch_update u
            WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
        )
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = x
    ) IS NULL
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        PERFORM weft._fail(
            'WF102',
            format('job b%s.j%s does not exist', of_batch_id, v_wrong),
            'The batch has no committed job of this number.',
            format('List its jobs with `weft jobs b%s`.', of_batch_id)
        );
    END IF;
    PERFORM pg_advisory_xact_lock(of_batch_id);
    PERFORM
    FROM (
        SELECT t.x
        FROM (SELECT DISTINCT x FROM unnest(of_job_ids) x) t
        LEFT JOIN LATERAL (
            SELECT j.state FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = t.x OFFSET 0
        ) s ON true
        ORDER BY s.state IS DISTINCT FROM STATE_RUNNING, t.x
    ) d
    CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = d.x FOR UPDATE)
        l;
END $$;
