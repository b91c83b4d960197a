-- start_attempts: record that attempts began to run, and tell children that wait for no more.
-- Safe to repeat: yes.
-- Locks: job; as _tell_starts; as _announce.
-- Plan: job by key for each report.
-- Returns: one verdict per report, in order: ok or stale.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.start_attempts(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    ages_us bigint[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_verdicts text[];
    v_n bigint[];
    v_batches bigint[];
    v_jobs int[];
BEGIN
    WITH report AS MATERIALIZED (
        SELECT *
        FROM unnest(batch_ids, job_ids, attempts, ages_us)
            WITH ORDINALITY AS t (batch_id, job_id, attempt, age_us, n)
        ORDER BY batch_id, job_id
    ),
    upd AS (
        UPDATE weft.job j
        SET
            phase = PHASE_EXECUTING,
            started_at = coalesce(
                j.started_at,
                greatest(
                    j.claimed_at,
                    least(start_attempts.at, start_attempts.at - r.age_us * interval '1 microsecond')
                )
            )
        FROM report r
        WHERE j.batch_id = r.batch_id
            AND j.job_id = r.job_id
            AND j.attempt = r.attempt
            AND j.state = STATE_RUNNING
            AND j.incarnation_id = start_attempts.incarnation_id
        RETURNING
            r.n,
            j.batch_id,
            j.job_id,
            j.tells_start
                OR EXISTS (
                    SELECT
                    FROM weft.edge e
                    WHERE e.batch_id = j.batch_id AND e.parent_id = j.job_id AND e.need = NEED_START
                ) AS tells
    )
    SELECT
        array_agg(u.n),
        array_agg(u.batch_id) FILTER (WHERE u.tells),
        array_agg(u.job_id) FILTER (WHERE u.tells)
    INTO v_n, v_batches, v_jobs
    FROM upd u;
    IF cardinality(v_n) = cardinality(job_ids) THEN
        v_verdicts := array_fill('ok'::text, ARRAY[cardinality(job_ids)]);
    ELSE
        SELECT array_agg(CASE WHEN n = ANY (v_n) THEN 'ok' ELSE 'stale' END ORDER BY n)
        INTO v_verdicts
        FROM generate_series(1, cardinality(job_ids)) n;
    END IF;
    IF v_jobs IS NOT NULL THEN
        PERFORM weft._tell_starts(v_batches, v_jobs, start_attempts.at);
    END IF;
    PERFORM weft._announce();
    RETURN coalesce(v_verdicts, '{}');
END $$;
