-- apply_limits: one bounded step: make batches and groups agree with limits. What belongs to one that is
--   reached is held and what runs there is stopped, or it is cancelled; what belongs to one that is near is
--   held but for what it admits; what belongs to another one is released.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; as _pause_for_limit (instead); as _cancel_for_limit (instead); as _resume_for_limit
--   (instead); spend_limit.
-- Plan: limits, which are few; groups by key; as these.
-- A project or user that stays at or near a limit is looked at again: a batch may have been opened by a way
--   that does not ask
-- (_pause_batch). So is a set: jobs that run may have joined it. The hold of a batch or of another group
--   stays, whatever comes into it.
-- Returns: how many groups and attempts, at least 1 while work remains.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.apply_limits(epoch bigint, limit_jobs int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_limit weft.spend_limit;
    v_n int;
BEGIN
    FOR v_limit IN
        SELECT l.*
        FROM weft.spend_limit l
        WHERE l.applied_at IS NULL
            OR (l.stage = 'reached' OR l.near)
                AND (
                    l.batch_id IS NULL
                        OR EXISTS (
                            SELECT
                            FROM weft.job_group g
                            WHERE g.batch_id = l.batch_id AND g.group_id = l.group_id AND g.is_set
                        )
                            AND NOT EXISTS (
                                SELECT
                                FROM weft.group_count c
                                WHERE c.batch_id = l.batch_id AND c.group_id = l.group_id AND c.complete
                            )
                )
        ORDER BY l.limit_id
    LOOP
        v_n := CASE
            WHEN v_limit.stage <> 'reached' AND NOT v_limit.near
                THEN weft._resume_for_limit(v_limit, limit_jobs)
            WHEN v_limit.on_limit = 'pause' OR v_limit.stage <> 'reached'
                THEN weft._pause_for_limit(v_limit, limit_jobs)
            ELSE weft._cancel_for_limit(v_limit, limit_jobs)
        END;
        IF v_n > 0 THEN
            RETURN v_n;
        END IF;
        IF v_limit.applied_at IS NULL THEN
            UPDATE weft.spend_limit l
            SET applied_at = clock_timestamp()
            WHERE l.limit_id = v_limit.limit_id
                AND l.version = v_limit.version
                AND l.stage = v_limit.stage
                AND l.near = v_limit.near;
            RETURN 1;
        END IF;
    END LOOP;
    RETURN 0;
END $$;
