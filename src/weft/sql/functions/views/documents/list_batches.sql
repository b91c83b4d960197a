-- list_batches: documents of batches that the caller sees, with numbers below `before`, newest first; of one
--   name, if given; hidden ones only on request.
-- Safe to repeat: yes, it only reads.
-- Plan: batches by tenant or name and number; as _visible_batches, as _visible_named_batches.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_batches(
    tenant_id int, before bigint, limit_rows int, of_name text, with_hidden boolean
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
    v_ids bigint[];
BEGIN
    IF weft._caller_id() IS NOT NULL AND of_name IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT weft._visible_named_batches(
                weft._caller_id(), of_name, coalesce(before, 9223372036854775807), limit_rows, with_hidden
            )
        );
    ELSIF weft._caller_id() IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT weft._visible_batches(
                weft._caller_id(), coalesce(before, 9223372036854775807), limit_rows, with_hidden
            )
        );
    ELSIF of_name IS NULL THEN
        SELECT array_agg(x.batch_id)
        INTO v_ids
        FROM (
            SELECT b.batch_id
            FROM weft.batch b
            WHERE b.tenant_id = list_batches.tenant_id
                AND b.deleted_at IS NULL
                AND b.batch_id < coalesce(before, 9223372036854775807)
                AND (with_hidden OR NOT b.hidden)
            ORDER BY b.batch_id DESC
            LIMIT limit_rows
        ) x;
    ELSE
        SELECT array_agg(x.batch_id)
        INTO v_ids
        FROM (
            SELECT b.batch_id
            FROM weft.batch b
            WHERE b.tenant_id = list_batches.tenant_id
                AND b.deleted_at IS NULL
                AND b.name = of_name
                AND b.batch_id < coalesce(before, 9223372036854775807)
                AND (with_hidden OR NOT b.hidden)
            ORDER BY b.batch_id DESC
            LIMIT limit_rows
        ) x;
    END IF;
    RETURN QUERY
    SELECT d.document
    FROM weft._group_documents(v_ids, array_fill(0, ARRAY[coalesce(cardinality(v_ids), 0)])) d
    ORDER BY d.batch_id DESC;
END $$;
