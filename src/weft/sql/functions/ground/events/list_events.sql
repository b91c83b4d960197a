-- list_events: events after a position, in the order of their ids, without gaps and repeats: only those older
--   than every open writer.
-- Safe to repeat: yes.
-- Locks: none.
-- Plan: events by key from the position on.
-- Of a batch of which the caller sees single jobs there are the events of these jobs, which name no others.
-- Returns: events in order; the position of the last one is the next `after`.  Raises WF304 if events after
--   the position were removed.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.list_events(
    tenant_id int, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows int
) RETURNS TABLE (
    xid bigint,
    event_id bigint,
    at timestamptz,
    kind text,
    batch_id bigint,
    from_state smallint,
    to_state smallint,
    jobs int[],
    groups int[],
    trace_id text,
    detail jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_has_jobs boolean;
BEGIN
    -- Hardly anybody: all others are not asked about each event of batches that they do not see.
    v_has_jobs := EXISTS (
        SELECT FROM weft.batch_grant g WHERE g.user_id = weft._caller_id() AND g.job_id > 0
    );
    IF EXISTS (
        SELECT
        FROM weft.event_floor f
        WHERE (list_events.after_xid::text::xid8, list_events.after_event) < (f.xid, f.event_id)
    ) THEN
        PERFORM weft._fail(
            'WF304',
            'these events were removed',
            'They are older than the retention time of events.',
            'Read the current state of your batches, then listen from now on.'
        );
    END IF;
    RETURN QUERY
    SELECT
        e.xid::text::bigint, e.event_id, e.at, e.kind, e.batch_id, e.from_state, e.to_state,
        CASE WHEN v_has_jobs THEN coalesce(weft._shown_jobs(e.batch_id, e.jobs), '{}') ELSE e.jobs END,
        CASE WHEN NOT v_has_jobs OR weft._sees_batch(e.batch_id) THEN e.groups ELSE '{}' END,
        coalesce(e.trace_id, (SELECT b.trace_id FROM weft.batch b WHERE b.batch_id = e.batch_id)),
        weft._shown_detail(e.kind, e.detail)
    FROM weft.event e
    WHERE (e.xid, e.event_id) > (list_events.after_xid::text::xid8, list_events.after_event)
        AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
        AND (of_batch_id IS NULL OR e.batch_id = of_batch_id)
        -- Of a deleted batch only that it was, and how its removal goes. Operations on many batches have no
        -- batch, and conditions, which are told to those who saw a batch of theirs: those that had opened
        -- them, or had waited there until they were closed.
        AND CASE
            WHEN e.batch_id = 0 AND e.kind LIKE 'operation.%'
                THEN EXISTS (
                    SELECT
                    FROM weft.operation o
                    WHERE o.operation_id = (e.detail ->> 'operation')::bigint AND weft._sees_operation(o)
                )
            WHEN e.batch_id = 0
                THEN weft._caller_id() IS NULL OR weft._shown_detail(e.kind, e.detail) IS NOT NULL
            WHEN e.kind = 'batch.deleted' OR e.kind LIKE 'operation.%' THEN weft._sees_work_on(e.batch_id)
            ELSE EXISTS (
                SELECT
                FROM weft.batch b
                WHERE b.batch_id = e.batch_id
                    AND b.deleted_at IS NULL
                    AND (
                        weft._permission(b.batch_id, b.user_id, b.project_id) > 0
                            OR v_has_jobs AND weft._shown_jobs(e.batch_id, e.jobs) IS NOT NULL
                    )
            )
        END
    ORDER BY e.xid, e.event_id
    LIMIT limit_rows;
END $$;
