-- list_users: a page of the users of a tenant who are not removed, in the order of their numbers.
-- Safe to repeat: yes, it only reads.
-- Plan: users of the tenant by index, a page: comparing rows leaves no other index to choose.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_users(tenant_id int, after int, limit_rows int) RETURNS SETOF jsonb
LANGUAGE plpgsql PLAN_IN_ORDER PLAN_ONCE AS $$
BEGIN
    RETURN QUERY
    SELECT weft._user_document(u)
    FROM weft.tenant_user u
    WHERE (u.tenant_id, u.user_id) > (list_users.tenant_id, list_users.after)
        AND u.tenant_id <= list_users.tenant_id
        AND u.removed_at IS NULL
    ORDER BY u.tenant_id, u.user_id
    LIMIT limit_rows;
END $$;
