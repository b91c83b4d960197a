-- _admissible_jobs: the first jobs that wait to be admitted by limits that are near, in the order of their priorities, batches and numbers;
--   those that were admitted before and not claimed come last.
-- Called by: admit_at_limits.   Safe to repeat: yes, it only reads.
-- Plan: held groups by the index of their limit; ready jobs and ranges of at most 100 batches, at most 20,000 rows or numbers of each; jobs
--   and shapes by key.
-- Returns: a row for each job and each limit that holds it, ordered; next_attempt: the one that would be admitted.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._admissible_jobs(of_limit_ids int[], limit_jobs int, at timestamptz)
RETURNS TABLE (place bigint, batch_id bigint, job_id int, next_attempt smallint, limit_id int, used_per_hour numeric) LANGUAGE plpgsql
STABLE
AS $$
#variable_conflict use_column
DECLARE
    v_card smallint := (SELECT c.rate_card_id FROM weft.rate_card c WHERE c.valid_from <= _admissible_jobs.at
        ORDER BY c.valid_from DESC LIMIT 1);
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT DISTINCT h.batch_id FROM weft.group_hold h
        WHERE h.limit_id = ANY (of_limit_ids) AND h.admits AND h.released_at IS NULL AND (
            -- By key: an EXISTS might read all of it.
            (SELECT true FROM weft.ready_job q WHERE q.batch_id = h.batch_id LIMIT 1)
            OR (SELECT true FROM weft.runnable r WHERE r.batch_id = h.batch_id LIMIT 1))
        ORDER BY 1 LIMIT 100),
    waiting AS MATERIALIZED (
        SELECT h.batch_id, w.* FROM held h CROSS JOIN LATERAL (
            (SELECT q.job_id, q.rank FROM (
                SELECT y.job_id, y.rank FROM weft.ready_job y WHERE y.batch_id = h.batch_id ORDER BY y.job_id LIMIT 20000) q
             CROSS JOIN LATERAL (SELECT y.group_id, y.always_run FROM weft.job y WHERE y.batch_id = h.batch_id AND y.job_id = q.job_id
                 AND y.state = STATE_READY OFFSET 0) j
             WHERE weft._waits_for_limits(h.batch_id, j.group_id, q.job_id, j.always_run, of_limit_ids)
             ORDER BY q.rank, q.job_id LIMIT limit_jobs)
            UNION ALL
            (SELECT j.job_id, 0::smallint FROM weft.runnable r CROSS JOIN LATERAL (
                 SELECT y.job_id FROM weft.job y
                 WHERE y.batch_id = h.batch_id AND y.job_id >= r.low_job AND y.job_id <= least(r.last_job, r.low_job::bigint + 20000)
                   AND y.state = STATE_READY AND NOT y.listed AND y.lane_id = r.lane_id
                   AND weft._waits_for_limits(h.batch_id, y.group_id, y.job_id, y.always_run, of_limit_ids)
                 ORDER BY y.job_id LIMIT limit_jobs) j
             WHERE r.batch_id = h.batch_id ORDER BY j.job_id LIMIT limit_jobs)) w),
    first AS MATERIALIZED (
        SELECT row_number() OVER (ORDER BY w.was_admitted, w.rank, w.batch_id, w.job_id) AS place, w.batch_id, w.job_id FROM (
            SELECT x.*, EXISTS (SELECT FROM weft.admission a WHERE a.batch_id = x.batch_id AND a.job_id = x.job_id) AS was_admitted
            FROM waiting x) w
        ORDER BY 1 LIMIT limit_jobs)
    SELECT f.place, f.batch_id, f.job_id, (j.attempt + 1)::smallint, l.limit_id,
        weft._used_per_hour(l.measure, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu, v_card)
    FROM first f
    CROSS JOIN LATERAL (SELECT y.attempt, y.group_id, y.shape_id FROM weft.job y
        WHERE y.batch_id = f.batch_id AND y.job_id = f.job_id OFFSET 0) j
    CROSS JOIN LATERAL (SELECT y.* FROM weft.shape y WHERE y.shape_id = j.shape_id OFFSET 0) s
    CROSS JOIN LATERAL (SELECT DISTINCT h.limit_id FROM weft.group_ancestor a
        JOIN weft.group_hold h ON h.batch_id = a.batch_id AND h.group_id = a.ancestor_id AND h.released_at IS NULL
        WHERE a.batch_id = f.batch_id AND a.group_id = j.group_id) h
    JOIN weft.spend_limit l ON l.limit_id = h.limit_id
    ORDER BY f.place, l.limit_id;
END $$;
