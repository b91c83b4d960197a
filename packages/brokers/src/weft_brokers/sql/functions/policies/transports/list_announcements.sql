-- list_announcements: what is to be told outside of the next events of a tenant: jobs that have come through
--   a door with ids of its own, and those of them that have failed for good. A reader that is new begins now.
-- Safe to repeat: yes; keep_position goes on.
-- Locks: as _check_epoch.
-- Plan: events by key from the position on, as list_events; their batches and jobs by
--   key.
-- Returns: xid, event_id: the position after these; behind: whether there is more, now or when older writers
--   have committed; told: [{kind, batch_id, foreign_id, foreign_trace, max_attempts, n_failed, error, at}] in
--   order, kind created or dead. NULL: there is no such tenant.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.list_announcements(
    epoch bigint, reader text, tenant text, door text, limit_rows int
) RETURNS jsonb LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_tenant int;
    v_reader weft.event_reader;
    v_behind boolean;
    v_horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
    v_answer jsonb;
BEGIN
    SELECT t.tenant_id INTO v_tenant FROM weft.tenant t WHERE t.name = list_announcements.tenant;
    IF v_tenant IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.event_reader (reader, tenant_id, xid, event_id)
    VALUES (list_announcements.reader, v_tenant, v_horizon, 0)
    ON CONFLICT DO NOTHING;
    SELECT r.* INTO v_reader FROM weft.event_reader r WHERE r.reader = list_announcements.reader;
    v_behind := EXISTS (SELECT FROM weft.event e WHERE e.xid >= v_horizon AND e.tenant_id = v_tenant);
    WITH next AS MATERIALIZED (
        SELECT e.xid, e.event_id, e.kind, e.to_state, e.batch_id, e.at
        FROM weft.event e
        WHERE (e.xid, e.event_id) > (v_reader.xid, v_reader.event_id)
            AND e.xid < v_horizon
            AND e.tenant_id = v_tenant
        ORDER BY e.xid, e.event_id
        LIMIT limit_rows
    )
    SELECT jsonb_build_object(
        'xid', coalesce(
            (SELECT n.xid::text::bigint FROM next n ORDER BY n.xid DESC, n.event_id DESC LIMIT 1),
            v_reader.xid::text::bigint
        ),
        'event_id', coalesce(
            (SELECT n.event_id FROM next n ORDER BY n.xid DESC, n.event_id DESC LIMIT 1), v_reader.event_id
        ),
        'behind', v_behind OR (SELECT count(*) FROM next) = limit_rows,
        'told', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'kind', CASE WHEN n.kind = 'update.committed' THEN 'created' ELSE 'dead' END,
                        'batch_id', b.batch_id,
                        'foreign_id', b.foreign_id,
                        'foreign_trace', b.foreign_trace,
                        'max_attempts', j.max_attempts,
                        'n_failed', (
                            SELECT count(*)
                            FROM weft.attempt a
                            WHERE a.batch_id = b.batch_id
                                AND a.job_id = 1
                                AND a.reason IS NOT NULL
                                AND a.reason NOT IN (
                                    REASON_CANCELLED, REASON_PREEMPTED, REASON_LOST, REASON_BLOCKED
                                )
                        ),
                        -- A step that fails without a message has none.
                        'error', (
                            SELECT CASE
                                WHEN a.message <> '' THEN a.message
                                WHEN a.reason <> REASON_EXIT
                                    THEN (SELECT r.word FROM weft.attempt_reason r WHERE r.reason = a.reason)
                            END
                            FROM weft.attempt a
                            WHERE a.batch_id = b.batch_id AND a.job_id = 1 AND a.reason IS NOT NULL
                            ORDER BY a.attempt DESC
                            LIMIT 1
                        ),
                        'at', n.at
                    ) ORDER BY n.xid,
                    n.event_id
                )
                FROM next n
                JOIN weft.batch b ON b.batch_id = n.batch_id
                JOIN weft.job j ON j.batch_id = b.batch_id AND j.job_id = 1
                WHERE b.door = list_announcements.door
                    AND b.foreign_id IS NOT NULL
                    AND b.deleted_at IS NULL
                    AND (n.kind = 'update.committed' OR n.to_state IN (STATE_FAILED, STATE_ERROR))
            ),
            '[]'
        )
    )
    INTO v_answer;
    RETURN v_answer;
END $$;
