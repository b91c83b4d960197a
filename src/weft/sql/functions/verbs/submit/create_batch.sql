-- create_batch: make an empty batch with its root group.
-- Safe to repeat: yes with an idempotency key; same key and digest give the same batch.
-- Locks: as _before_submit; as _create_batch; as _announce.
-- Plan: as _create_batch; as _at_commit.
-- batch: as _create_batch.
-- Returns: its number and whether it is new.  Raises what _create_batch raises; WF134 (as _at_commit).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_batch(
    tenant_id int,
    user_id int,
    batch jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (batch_id bigint, is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
    v_checks boolean;
    v_new record;
    v_update weft.batch_update;
BEGIN
    v_checks := (weft._before_submit(create_batch.tenant_id, create_batch.user_id, NULL, NULL, true)).checks;
    SELECT b.*
    INTO v_new
    FROM weft._create_batch(
        create_batch.tenant_id,
        create_batch.user_id,
        create_batch.batch,
        create_batch.trace_id,
        create_batch.idempotency_key,
        create_batch.digest,
        create_batch.at
    ) b;
    IF v_new.is_new THEN
        v_update.batch_id := v_new.batch_id;
        v_update.n_jobs := 0;
        IF v_checks THEN
            PERFORM weft._at_commit(create_batch.tenant_id, v_update, true);
        END IF;
        INSERT INTO weft.empty_batch (batch_id, tenant_id, created_at)
        VALUES (v_new.batch_id, create_batch.tenant_id, create_batch.at);
        IF create_batch.batch ->> 'unique_by' IS NOT NULL THEN
            PERFORM weft._announce();  -- what it replaced is cancelled
        END IF;
    END IF;
    RETURN QUERY SELECT v_new.batch_id, v_new.is_new;
END $$;
