-- _stop_batch: check whether all jobs of a deleted batch have ended and been folded, so that its rows may go;
--   if so, mark its row.
-- Safe to repeat: yes.
-- Returns: whether there was something to do; if not, look again later.
-- Locks: operation (by the caller); delivery; fold; sums (nobody else); batch_row (nobody else); as
--   _end_operation.
-- Plan: by key; the unfolded deltas.
-- Deliveries go first: nobody is notified any more.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stop_batch(operation weft.operation, limit_rows int, at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint := operation.batch_id;
BEGIN
    DELETE FROM weft.callback_delivery d
    WHERE d.ctid = ANY (
        ARRAY(SELECT x.ctid FROM weft.callback_delivery x WHERE x.batch_id = v_batch LIMIT limit_rows)
    );
    IF FOUND THEN
        RETURN true;
    END IF;
    -- Calls that found the batch there may still write; when they are done, nobody does.
    IF EXISTS (
        SELECT
        FROM pg_locks l
        WHERE l.locktype = 'virtualxid'
            AND l.granted
            AND l.virtualtransaction IN (SELECT jsonb_array_elements_text(operation.arguments -> 'waits_for'))
    ) THEN
        RETURN false;
    END IF;
    -- No fold adds bytes to the sums of its owner after they were taken off: a report of a late end may have
    -- just been committed.
    PERFORM FROM weft.fold f FOR UPDATE;
    -- Other operations on it have nothing to do any more, and the driver takes one step at a time.
    PERFORM weft._end_operation(
        o.operation_id,
        jsonb_build_object('code', 'API.BATCH_NOT_FOUND', 'title', format('batch b%s was deleted', v_batch)),
        NULL,
        _stop_batch.at
    )
    FROM weft.operation o
    WHERE o.batch_id = v_batch AND o.state = 'running' AND o.operation_id <> operation.operation_id;
    IF EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = v_batch AND NOT c.swept)
        OR EXISTS (SELECT FROM weft.cascade c WHERE c.batch_id = v_batch)
        OR EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = v_batch AND NOT h.swept)
        OR EXISTS (SELECT FROM weft.held_ready h WHERE h.batch_id = v_batch)
        OR EXISTS (
            SELECT
            FROM weft._group_counts(ARRAY[v_batch], ARRAY[0]) n
            WHERE n.n_pending + n.n_ready + n.n_queued + n.n_creating + n.n_running + n.n_blocked <> 0
        )
        OR EXISTS (SELECT FROM weft._unfolded() d WHERE d.batch_id = v_batch)
    THEN
        RETURN false;
    END IF;
    INSERT INTO weft.removed_usage AS r (project_id, rate_card_id, shape_id, tenant_id, usage_ms)
    SELECT b.project_id, u.rate_card_id, u.shape_id, u.tenant_id, u.usage_ms
    FROM weft.batch b
    JOIN weft.group_usage u ON u.batch_id = b.batch_id AND u.group_id = 0
    WHERE b.batch_id = v_batch
    ON CONFLICT (project_id, rate_card_id, shape_id) DO UPDATE
    SET usage_ms = r.usage_ms + excluded.usage_ms;
    UPDATE weft.user_storage u
    SET n_bytes = u.n_bytes - s.n_bytes
    FROM weft.batch b
    JOIN weft.batch_storage s ON s.batch_id = b.batch_id
    WHERE b.batch_id = v_batch AND u.tenant_id = b.tenant_id AND u.user_id IN (0, b.user_id);
    UPDATE weft.batch b SET removing = true WHERE b.batch_id = v_batch;
    RETURN true;
END $$;
