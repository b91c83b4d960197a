-- list_given: what submissions have claimed for an incarnation (_give_to_sleeper), as claim_jobs returns it,
--   for some seconds, until a heartbeat names the number of the claim or the job has changed.
-- Plan: its claims, jobs and their specs by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_given(incarnation_id int) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int,
    chunk bytea,
    call bigint
) LANGUAGE sql STABLE PLAN_BY_KEY AS $$
    SELECT
        j.batch_id, j.job_id, j.attempt, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu, j.spec_first,
        (
            SELECT x.body
            FROM weft.job_spec x
            WHERE x.batch_id = j.batch_id AND x.first_job = j.spec_first AND octet_length(x.body) <= 8192
        ),
        c.call
    FROM weft.claim c
    CROSS JOIN unnest(c.jobs) n (job_id)
    CROSS JOIN LATERAL (
        SELECT y.*, y.xmin AS by
        FROM weft.job y
        WHERE y.batch_id = c.batch_id AND y.job_id = n.job_id
        OFFSET 0
    ) j
    JOIN weft.shape s
    USING (shape_id)
    WHERE c.incarnation_id = list_given.incarnation_id
        AND c.call < 0
        AND j.state = STATE_RUNNING
        AND j.by = c.xmin  -- the attempt that was given, as it was
        -- a heartbeat that has begun does not hand it back
        AND j.claimed_at > clock_timestamp() - interval '3 seconds'
$$;
