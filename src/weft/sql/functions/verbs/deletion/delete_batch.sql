-- delete_batch: hide the batch from everybody and cancel it with force; the driver removes its rows when all
--   its jobs have ended.
-- Safe to repeat: yes with an idempotency key; else the second call finds no batch.
-- Locks: batch_row; as _cancel_group; as _create_operation. submit takes them in this order as well.
-- Plan: by key.
-- Returns: the operation.  Raises WF101, WF201 (key used for another request).
-- The batch's own idempotency key becomes free: the same submission makes a new batch.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.delete_batch(
    tenant_id int,
    user_id int,
    batch_id bigint,
    actor text,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
    v_last int;
BEGIN
    PERFORM FROM weft.batch b WHERE b.batch_id = delete_batch.batch_id FOR NO KEY UPDATE;
    -- After the row was locked: the same request at the same time has made it, or the batch is gone.
    v_id := weft._find_operation(delete_batch.user_id, delete_batch.idempotency_key, delete_batch.digest);
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    PERFORM weft._check_batch(delete_batch.batch_id);
    PERFORM weft._cancel_group(delete_batch.batch_id, 0, delete_batch.actor, true, delete_batch.at);
    UPDATE weft.batch b
    SET deleted_at = delete_batch.at, idempotency_key = NULL
    WHERE b.batch_id = delete_batch.batch_id
    RETURNING b.next_job - 1
    INTO v_last;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, trace_id)
    VALUES (
        delete_batch.at, delete_batch.tenant_id, delete_batch.batch_id, 'batch.deleted', delete_batch.trace_id
    );
    RETURN weft._create_operation(
        delete_batch.tenant_id, delete_batch.user_id, delete_batch.batch_id, 'delete_batch', '{}', v_last,
        delete_batch.trace_id, delete_batch.idempotency_key, delete_batch.digest, delete_batch.at
    );
END $$;
