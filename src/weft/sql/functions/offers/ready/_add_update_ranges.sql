-- _add_update_ranges: add ranges for the ready jobs of an update that are not listed: one for each stretch of
--   bunches of one lane.
-- Safe to repeat: no.
-- Locks: none but its inserts.
-- For: _make_visible; if all its jobs are in one lane, that adds one range.
-- Plan: bunches by key; where a bunch has several lanes, jobs by key up to the first that is in the range.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_update_ranges(
    of_batch_id bigint, of_update_id int, pool_id int, user_id int
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    WITH section AS (
        SELECT
            s.first_job,
            s.lane_id,
            s.lane_id IS DISTINCT FROM lag(s.lane_id) OVER (ORDER BY s.first_job) AS is_new
        FROM weft.bunch x
        CROSS JOIN LATERAL (
            SELECT
                t.first_job,
                t.lane_id,
                coalesce(lead(t.first_job) OVER (ORDER BY t.first_job), x.first_job + x.n_jobs)
                    - 1 AS last_job
            FROM unnest(coalesce(x.lane_firsts, ARRAY[x.first_job]), coalesce(x.lane_ids, '{0}')) t (
                first_job, lane_id
            )
        ) s
        WHERE x.batch_id = of_batch_id
            AND x.update_id = of_update_id
            AND x.n_ranged > 0
            AND (
                coalesce(cardinality(x.lane_ids), 1) = 1
                    OR EXISTS (
                        SELECT
                        FROM weft.job j
                        WHERE j.batch_id = x.batch_id
                            AND j.job_id BETWEEN s.first_job AND s.last_job
                            AND j.state = STATE_READY
                            AND NOT j.listed
                    )
            )
    )
    INSERT INTO weft.runnable (
        gate_set_id, pool_id, user_id, tenant_id, batch_id, update_id, lane_id, first_job, last_job, low_job
    )
    SELECT
        b.gate_set_id,
        weft._lane_pool(s.lane_id, _add_update_ranges.pool_id),
        _add_update_ranges.user_id, u.tenant_id, of_batch_id, of_update_id, s.lane_id, s.first_job,
        coalesce(lead(s.first_job) OVER (ORDER BY s.first_job), u.first_job + u.n_jobs) - 1,
        s.first_job
    FROM section s
    JOIN weft.batch_update u ON u.batch_id = of_batch_id AND u.update_id = of_update_id
    JOIN weft.batch b ON b.batch_id = of_batch_id
    WHERE s.is_new;
END $$;
