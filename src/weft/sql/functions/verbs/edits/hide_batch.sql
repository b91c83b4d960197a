-- hide_batch: let lists of batches leave this one out, or show it again. Nothing else changes.
-- Safe to repeat: yes.
-- Returns: whether anything changed.
-- Locks: batch_row; as _record_change.
-- Plan: by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.hide_batch(
    tenant_id int, batch_id bigint, hidden boolean, actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(hide_batch.batch_id);
    UPDATE weft.batch b
    SET hidden = hide_batch.hidden
    WHERE b.batch_id = hide_batch.batch_id AND b.hidden <> hide_batch.hidden;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM weft._record_change(
        hide_batch.batch_id,
        0,
        CASE WHEN hide_batch.hidden THEN 'hidden' ELSE 'unhidden' END,
        hide_batch.actor,
        NULL,
        hide_batch.at
    );
    RETURN true;
END $$;
