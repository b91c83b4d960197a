-- admit_at_limits: let jobs start that fit below limits which are near: with all that runs and was admitted,
--   they use less in an hour than there is room for.
-- Safe to repeat: yes, the caller takes what was admitted off the rooms.
-- Locks: as _check_epoch; as _take_back; as _let_start (rows above); as _move_ranges; as _announce.
-- Plan: as _admissible_jobs, _take_back and _let_start.
-- limit_ids, rooms: how much more may be used in an hour, in the measure of each. Less than nothing: more was
--   admitted than fits by now, because the limit was lowered or is used further; what is not claimed of it is
--   taken back at once.
-- patience: after this time an attempt that no worker claimed makes room for others, at the next look.
-- Returns: for each limit how many attempts fit, and whether one did not. Those whose batch or row is locked
--   start after a later look.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.admit_at_limits(
    epoch bigint,
    limit_ids int[],
    rooms numeric[],
    limit_jobs int,
    patience interval DEFAULT '3 seconds',
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (limit_id int, n_admitted int, is_short boolean) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_rooms numeric[] := rooms;
    v_next record;
    v_over int[];
    v_short int[];
    v_less int[];
    v_batch bigint;
    v_batches bigint[];
    v_fit weft.admission[] := '{}';
BEGIN
    v_less := ARRAY(SELECT t.l FROM unnest(admit_at_limits.limit_ids, v_rooms) t (l, room) WHERE t.room < 0);
    v_short := v_less;
    FOR v_next IN
        SELECT
            array_agg(c.limit_id) AS limits,
            array_agg(c.used_per_hour) AS per_hours,
            array_agg(
                (
                    c.batch_id,
                    c.job_id,
                    c.limit_id,
                    c.next_attempt,
                    0,
                    c.used_per_hour,
                    admit_at_limits.at,
                    true
                )::weft.admission
            ) AS new
        FROM weft._admissible_jobs(admit_at_limits.limit_ids, limit_jobs, admit_at_limits.at) c
        GROUP BY c.place
        ORDER BY c.place
    LOOP
        v_over := ARRAY(
            SELECT t.l
            FROM unnest(v_next.limits, v_next.per_hours) t (l, p)
            WHERE t.p >= v_rooms[array_position(admit_at_limits.limit_ids, t.l)]
        );
        v_short := v_short || v_over;
        IF v_over = '{}' THEN
            v_fit := v_fit || v_next.new;
            v_rooms := ARRAY(
                SELECT r.room - coalesce(
                    (SELECT t.p FROM unnest(v_next.limits, v_next.per_hours) t (l, p) WHERE t.l = r.l), 0
                )
                FROM unnest(admit_at_limits.limit_ids, v_rooms) WITH ORDINALITY r (l, room, n)
                ORDER BY r.n
            );
        END IF;
    END LOOP;
    PERFORM weft._take_back(
        admit_at_limits.limit_ids,
        CASE WHEN v_short <> '{}' THEN admit_at_limits.at - patience END,
        limit_jobs
    );
    IF v_less <> '{}' THEN
        PERFORM weft._take_back(v_less, admit_at_limits.at, limit_jobs);
    END IF;
    v_batches := ARRAY(SELECT DISTINCT f.batch_id FROM unnest(v_fit) f ORDER BY 1);
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM weft._let_start(
            v_batch,
            array_agg(f.job_id),
            array_agg(f.limit_id),
            array_agg(f.attempt),
            array_agg(f.used_per_hour),
            admit_at_limits.at
        )
        FROM unnest(v_fit) f
        WHERE f.batch_id = v_batch;
    END LOOP;
    PERFORM weft._move_ranges(v_batches);
    PERFORM weft._announce(array_agg(p.pool_id), array_agg(p.user_id))
    FROM (
        SELECT DISTINCT x.pool_id, b.user_id
        FROM unnest(v_batches) v
        JOIN weft.batch b ON b.batch_id = v
        CROSS JOIN LATERAL unnest(weft._batch_pools(v)) x (pool_id)
    ) p
    HAVING count(*) > 0;
    RETURN QUERY
    SELECT x, (SELECT count(*) FROM unnest(v_fit) f WHERE f.limit_id = x)::int, x = ANY (v_short)
    FROM unnest(admit_at_limits.limit_ids) x;
END $$;
