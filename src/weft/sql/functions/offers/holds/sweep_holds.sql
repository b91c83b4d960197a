-- sweep_holds: one bounded step: park jobs that became ready while held; or park ready jobs of a held group;
--   or list the remaining jobs of a released one.
-- Safe to repeat: yes, the cursor of each hold moves with the work.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; as _park_noted; hold_row (SKIP LOCKED); as _turn_ranges; as _unpark_jobs; job (SKIP
--   LOCKED); as _park_jobs; as _move_ranges; as _announce. Jobs whose rows are locked elsewhere are noted for
--   later.
-- Plan: by the index of unswept holds; jobs by key, at most 20,000 numbers per call.
-- Returns: how many jobs were examined, at least 1 while work remains.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.sweep_holds(epoch bigint, limit_jobs int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_hold weft.group_hold;
    v_batch record;
    v_last int;
    v_to bigint;
    v_all int[];
    v_job int[];
    v_is_whole boolean;
    v_n bigint;
BEGIN
    v_n := weft._park_noted(limit_jobs);
    IF v_n > 0 THEN
        RETURN v_n;  -- the next call writes notes without holding job rows, so it may wait
    END IF;
    SELECT h.*
    INTO v_hold
    FROM weft.group_hold h
    WHERE NOT h.swept
    ORDER BY h.released_at IS NULL, h.sweep_job, h.batch_id, h.group_id, h.limit_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    SELECT
        b.next_job - 1 AS last_job, b.user_id, b.gated, b.gate_set_id, weft._batch_pools(b.batch_id) AS pools
    INTO v_batch
    FROM weft.batch b
    WHERE b.batch_id = v_hold.batch_id;
    IF v_hold.released_at IS NOT NULL THEN
        v_is_whole := CASE
            WHEN v_hold.group_id = 0 AND NOT weft._is_closed(v_hold.batch_id, 0, 0)
                THEN weft._turn_ranges(v_hold.batch_id, false)
            ELSE true
        END;
        v_last := weft._unpark_jobs(v_hold.batch_id, v_hold.sweep_job, limit_jobs);
        IF v_last IS NULL AND v_is_whole THEN
            DELETE FROM weft.group_hold h
            WHERE h.batch_id = v_hold.batch_id
                AND h.group_id = v_hold.group_id
                AND h.limit_id = v_hold.limit_id;
        ELSE
            UPDATE weft.group_hold h
            SET sweep_job = coalesce(v_last, h.sweep_job)
            WHERE h.batch_id = v_hold.batch_id
                AND h.group_id = v_hold.group_id
                AND h.limit_id = v_hold.limit_id;
        END IF;
    ELSE
        v_to := v_hold.sweep_job::bigint + 20000;
        v_is_whole := CASE
            WHEN v_hold.group_id = 0 THEN weft._turn_ranges(v_hold.batch_id, true)
            ELSE true
        END;
        SELECT array_agg(x.job_id)
        INTO v_all
        FROM (
            SELECT j.job_id
            FROM weft.job j
            WHERE j.batch_id = v_hold.batch_id
                AND j.job_id > v_hold.sweep_job
                AND j.job_id <= v_to
                AND j.state = STATE_READY
                AND (j.listed OR v_hold.group_id <> 0)
                AND EXISTS (
                    SELECT
                    FROM weft.group_ancestor a
                    WHERE a.batch_id = j.batch_id
                        AND a.group_id = j.group_id
                        AND a.ancestor_id = v_hold.group_id
                )
                AND EXISTS (
                    SELECT
                    FROM weft.batch_update u
                    WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id AND u.committed_at IS NOT NULL
                )
            ORDER BY j.job_id
            LIMIT limit_jobs
        ) x;
        SELECT coalesce(array_agg(l.job_id), '{}')
        INTO v_job
        FROM unnest(v_all) x
        CROSS JOIN LATERAL (
            SELECT j.job_id
            FROM weft.job j
            WHERE j.batch_id = v_hold.batch_id AND j.job_id = x
            FOR UPDATE SKIP LOCKED
        ) l;
        PERFORM weft._park_jobs(v_hold.batch_id, v_job);
        INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
        SELECT v_hold.batch_id, x, v_hold.tenant_id
        FROM unnest(v_all) x
        WHERE x <> ALL (v_job)
        ON CONFLICT DO NOTHING;
        IF cardinality(v_all) = limit_jobs THEN
            v_to := v_all[limit_jobs];
        END IF;
        UPDATE weft.group_hold h
        SET sweep_job = least(v_to, v_batch.last_job), swept = v_to >= v_batch.last_job AND v_is_whole
        WHERE h.batch_id = v_hold.batch_id AND h.group_id = v_hold.group_id AND h.limit_id = v_hold.limit_id;
        PERFORM weft._move_ranges(ARRAY[v_hold.batch_id]);
        -- Gates look ahead only a little while jobs are parked.
        PERFORM weft._ring_gates(weft._set_gates(ARRAY[v_batch.gate_set_id])) WHERE v_batch.gated;
    END IF;
    -- Workers that found no work may have looked ahead only a little while jobs were being parked.
    PERFORM weft._announce(v_batch.pools, array_fill(v_batch.user_id, ARRAY[cardinality(v_batch.pools)]));
    RETURN greatest(cardinality(v_all), 1);
END $$;
