-- _pause_batch: hold a batch that gets ready jobs if its billing project or its user is paused, so that none
--   of them starts; or near a limit, so that the driver admits what fits below it. What cancels at its limit
--   takes no jobs any more.
-- Safe to repeat: yes.
-- For: _after_visible and _after_retry; their callers announce it.
-- may_move: whether the jobs are the first of their batch, so that they can be submitted to another project
--   instead.
-- The hold is dated now: much of the transaction may lie behind, in which jobs of the batch were claimed.
-- Limits of the batch and its groups are not asked: their holds stay, whatever comes into the batch.
-- Locks: spend_limit (shared, in order: who reaches the limit waits for this transaction and then finds the
--   batch open, or is seen here); as _hold_for_limit.
-- Plan: batch and limits by key; without limits it costs this look.
-- Raises WF135.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._pause_batch(of_batch_id bigint, may_move boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_limit weft.spend_limit;
BEGIN
    FOR v_limit IN
        SELECT l.*
        FROM weft.spend_limit l
        WHERE l.limit_id = ANY (
            ARRAY(
                SELECT x.limit_id
                FROM weft.batch b
                CROSS JOIN LATERAL (
                    SELECT y.limit_id
                    FROM weft.spend_limit y
                    WHERE y.project_id = b.project_id
                    UNION ALL
                    SELECT y.limit_id
                    FROM weft.spend_limit y
                    WHERE y.user_id = b.user_id
                ) x
                WHERE b.batch_id = of_batch_id
            )
        )
        ORDER BY l.limit_id
        FOR SHARE OF l
    LOOP
        IF v_limit.stage <> 'reached' THEN
            IF v_limit.near THEN
                PERFORM weft._hold_for_limit(ARRAY[of_batch_id], '{0}', v_limit, clock_timestamp());
                PERFORM pg_notify('driver', 'spending');
            END IF;
        ELSIF v_limit.on_limit = 'pause' THEN
            PERFORM weft._hold_for_limit(ARRAY[of_batch_id], '{0}', v_limit, clock_timestamp());
        ELSE
            PERFORM weft._fail(
                'WF135',
                format('%s has reached its limit', weft._limit_name(v_limit)),
                format(
                    CASE v_limit.measure
                        WHEN 'cost' THEN 'It may cost %s, and takes no jobs any more.'
                        WHEN 'cpu' THEN 'It may use %s core hours, and takes no jobs any more.'
                        WHEN 'gpu' THEN 'It may use %s GPU hours, and takes no jobs any more.'
                        WHEN 'memory' THEN 'It may use %s GiB hours, and takes no jobs any more.'
                        ELSE 'It may use %s GiB hours of disk, and takes no jobs any more.'
                    END,
                    trim_scale(v_limit.amount_max)
                ),
                CASE
                    WHEN may_move AND v_limit.project_id IS NOT NULL THEN 'Name another project, or ask'
                    ELSE 'Ask'
                END || ' an administrator to raise the limit. `weft limit ls` shows it.'
            );
        END IF;
    END LOOP;
END $$;
