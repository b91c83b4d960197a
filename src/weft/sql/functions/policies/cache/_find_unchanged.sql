-- _find_unchanged: note of those of these jobs that are ready for the first time and need not run if the same
--   has succeeded before, which job has: one of the newest 100 with the key, of the same submitter in a batch
--   of the same owner, whose output is kept. Files of jobs that did not succeed may still change; then there
--   is no key.
-- Safe to repeat: yes.
-- For: _before_offer, _after_visible; only where there are such jobs.
-- Locks: job (by the caller).
-- Plan: jobs and keys by key; as _wanted_files.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._find_unchanged(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE sql AS $$
    WITH keyed AS MATERIALIZED (
        SELECT
            c.job_id,
            b.user_id,
            CASE
                WHEN w.are_there IS NOT FALSE
                    THEN sha256(c.spec_key || int4send(u.user_id) || coalesce(w.digests, ''))
            END AS key
        FROM weft.job_cache c
        JOIN weft.job j ON j.batch_id = c.batch_id
            AND j.job_id = c.job_id
            AND j.state = STATE_READY
            AND j.attempt = 0
        JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
        JOIN weft.batch b ON b.batch_id = c.batch_id
        CROSS JOIN LATERAL (
            SELECT
                array_agg(x.batch) AS batches,
                array_agg(x.job) AS jobs,
                array_agg(x.parent) AS parents,
                array_agg(x.path) AS paths
            FROM jsonb_to_recordset(c.wants) x (batch bigint, job int, parent text, path text)
        ) a
        CROSS JOIN LATERAL (
            SELECT
                string_agg(f.digest, '' ORDER BY f.n) AS digests,
                bool_and(f.digest IS NOT NULL AND f.state = STATE_SUCCESS) AS are_there
            FROM weft._wanted_files(c.batch_id, c.job_id, u.user_id, a.batches, a.jobs, a.parents, a.paths)
                WITH ORDINALITY f (from_batch, state, n_bytes, digest, kept_in, n)
            WHERE c.wants IS NOT NULL
        ) w
        WHERE c.batch_id = of_batch_id AND c.job_id = ANY (of_job_ids)
    ),
    found AS (
        SELECT k.job_id, k.key, s.batch_id AS from_batch, s.job_id AS from_job
        FROM keyed k
        LEFT JOIN LATERAL (
            SELECT x.batch_id, x.job_id
            FROM (
                SELECT y.batch_id, y.job_id
                FROM weft.job_cache y
                WHERE y.key = k.key AND y.from_batch IS NULL
                ORDER BY y.batch_id DESC, y.job_id DESC
                LIMIT 100
            ) x
            JOIN weft.batch b ON b.batch_id = x.batch_id
                AND b.user_id = k.user_id
                AND b.deleted_at IS NULL
                AND NOT b.hidden
            JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id AND j.state = STATE_SUCCESS
            WHERE NOT EXISTS (
                SELECT FROM weft.output_term o WHERE o.batch_id = x.batch_id AND o.removed_at IS NOT NULL
            )
            ORDER BY x.batch_id DESC, x.job_id DESC
            LIMIT 1
        ) s ON true
    )
    UPDATE weft.job_cache c
    SET key = f.key, from_batch = f.from_batch, from_job = f.from_job
    FROM found f
    WHERE c.batch_id = of_batch_id AND c.job_id = f.job_id
$$;
