-- _runs: all attempts, those that still run among them, which have no end.
-- Plan: inlined, so it has no SET clause; as its caller asks.
-- For: the audit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._runs() RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    shape_id int,
    incarnation_id int,
    claimed_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT
        a.batch_id, a.job_id, a.attempt, a.shape_id, a.incarnation_id, a.claimed_at, a.started_at, a.ended_at
    FROM weft.attempt a
    UNION ALL
    SELECT j.batch_id, j.job_id, j.attempt, j.shape_id, j.incarnation_id, j.claimed_at, j.started_at, NULL
    FROM weft.job j
    WHERE j.state = STATE_RUNNING
$$;
