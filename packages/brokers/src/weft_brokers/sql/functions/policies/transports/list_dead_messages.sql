-- list_dead_messages: documents of the dead messages of a tenant that nobody has acknowledged, or of the
--   others, the newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: by tenant and number, at most dead_messages_max.
-- before: the number of one that was listed; NULL: from the newest on.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_dead_messages(
    tenant_id int, before bigint, of_acknowledged boolean, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT weft._dead_document(d)
    FROM weft.dead_message d
    WHERE d.tenant_id = list_dead_messages.tenant_id
        AND (before IS NULL OR d.dead_id < before)
        AND (d.acknowledged IS NOT NULL) = of_acknowledged
    ORDER BY d.dead_id DESC
    LIMIT limit_rows;
END $$;
