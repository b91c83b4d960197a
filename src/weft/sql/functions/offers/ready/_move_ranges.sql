-- _move_ranges: move the low marks of these batches' ranges to the first job still to be claimed; remove
--   empty ranges.
-- Safe to repeat: yes.
-- Locks: range.
-- Plan: jobs by key from the low mark on, at most 200,000 per range and call.
-- No job is passed over: one that an open claim holds still looks ready here, and one that becomes ready
--   again is listed instead.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._move_ranges(batch_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.runnable r
    SET low_job = x.new_low
    FROM (
        SELECT
            r.runnable_id,
            coalesce(
                (
                    SELECT j.job_id
                    FROM (
                        SELECT y.job_id, y.state, y.listed, y.lane_id
                        FROM weft.job y
                        WHERE y.batch_id = r.batch_id
                            AND y.job_id >= r.low_job
                            AND y.job_id <= least(r.last_job::bigint, r.low_job::bigint + 200000)
                        ORDER BY y.job_id
                    ) j
                    WHERE j.state = STATE_READY AND NOT j.listed AND j.lane_id = r.lane_id
                    ORDER BY j.job_id
                    LIMIT 1
                ),
                least(r.last_job::bigint, r.low_job::bigint + 200000) + 1
            ) AS new_low
        FROM weft.runnable r
        WHERE r.batch_id = ANY (_move_ranges.batch_ids)
    ) x
    WHERE r.runnable_id = x.runnable_id AND x.new_low > r.low_job;
    DELETE FROM weft.runnable r WHERE r.batch_id = ANY (_move_ranges.batch_ids) AND r.low_job > r.last_job;
END $$;
