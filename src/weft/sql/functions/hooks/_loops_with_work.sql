-- _loops_with_work: names of the driver's loops, besides the fold, that have something to do. One line for
--   each (weft/driver/loops).
-- Plan: partial indexes and tables that are empty as a rule.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._loops_with_work() RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN array_remove(
        ARRAY[
            CASE WHEN EXISTS (SELECT FROM weft.group_cancel WHERE NOT swept) THEN 'cancel' END,
            CASE
                WHEN EXISTS (SELECT FROM weft.cascade) OR EXISTS (SELECT FROM weft.parent_end) THEN 'settle'
            END,
            CASE
                WHEN EXISTS (SELECT FROM weft.group_hold WHERE NOT swept)
                    OR EXISTS (SELECT FROM weft.held_ready)
                    THEN 'hold'
            END,
            CASE WHEN EXISTS (SELECT FROM weft.late_job) THEN 'deadlines' END,
            CASE
                WHEN EXISTS (SELECT FROM weft.black_hole)
                    AND EXISTS (
                        SELECT FROM weft._black_holes() b WHERE b.outcome <> 'none' AND b.due_at IS NOT NULL
                    )
                    THEN 'black_holes'
            END,
            CASE WHEN EXISTS (SELECT FROM weft.failure_delta) THEN 'failures' END,
            -- What an older writer still withholds is waited for by the loop itself.
            CASE
                WHEN EXISTS (SELECT FROM weft.subscription WHERE ended_at IS NULL)
                    THEN CASE
                        WHEN EXISTS (
                            SELECT
                            FROM weft._notices_from() f
                            CROSS JOIN LATERAL (
                                SELECT
                                FROM weft.event e
                                WHERE (e.xid, e.event_id) > (f.xid, f.event_id)
                                    AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
                                ORDER BY e.xid, e.event_id
                                LIMIT 1
                            ) n
                        )
                            THEN 'notify'
                    END
            END,
            CASE WHEN EXISTS (SELECT FROM weft.trail_unsealed) THEN 'trail' END,
            CASE
                WHEN EXISTS (SELECT FROM weft.gate_note)
                    OR EXISTS (SELECT FROM weft.core_sweep WHERE done_at IS NULL)
                    THEN 'gates'
            END,
            CASE WHEN EXISTS (SELECT FROM weft.operation WHERE state = 'running') THEN 'operate' END
        ],
        NULL
    );
END $$;
