-- _running_limits: what the attempts of an incarnation reserve, and between which seconds from now their time
--   limits end them. The job that it is kept for is left out.
-- Plan: as _live_attempts; lanes by key.
-- Returns: documents of weft.core.pools.keep.Running.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._running_limits(of_incarnation_id int, kept weft.reservation) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        jsonb_agg(
            jsonb_build_object(
                'cpu_m', j.cpu_m,
                'memory_mib', j.memory_mib,
                'started', j.started_at IS NOT NULL,
                'at_least_s', t.at_least_s - least(t.at_least_s, r.s),
                'at_most_s', t.at_most_s - least(t.at_most_s, r.s)
            )
        ),
        '[]'
    )
    FROM weft._live_attempts(of_incarnation_id) j
    CROSS JOIN LATERAL (SELECT l.asks FROM weft.lane l WHERE l.lane_id = j.lane_id) l
    CROSS JOIN LATERAL weft._limit_range(l.asks) t
    CROSS JOIN LATERAL (SELECT coalesce(date_part('epoch', clock_timestamp() - j.started_at), 0) AS s) r
    WHERE (j.batch_id, j.job_id) IS DISTINCT FROM ((kept).batch_id, (kept).job_id)
$$;
