-- list_permissions: with whom a batch is shared, and what they may do, in the order of user numbers after
--   one. Its owner and the members of its billing project are not in the list: they may do all.
-- Safe to repeat: yes, it only reads.
-- Plan: by key, a page.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_permissions(tenant_id int, batch_id bigint, after int, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(list_permissions.batch_id);
    RETURN QUERY
    SELECT weft._permission_document(g.batch_id, 0, g.user_id)
    FROM weft.batch_grant g
    WHERE g.batch_id = list_permissions.batch_id AND g.job_id = 0 AND g.user_id > after
    ORDER BY g.user_id
    LIMIT limit_rows;
END $$;
