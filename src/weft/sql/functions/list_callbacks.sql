-- list_callbacks: documents of the callbacks of a batch and its groups, in the order of the completions.
-- Called by: Store.list_callbacks (api).   Safe to repeat: yes, it only reads.   Plan: by key.   Raises WF101.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_callbacks(tenant_id int, batch_id bigint, after bigint, limit_rows int) RETURNS SETOF jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(list_callbacks.tenant_id);
    PERFORM weft._check_batch(list_callbacks.batch_id);
    RETURN QUERY
    SELECT jsonb_build_object(
        'delivery_id', d.delivery_id, 'delivery', d.name, 'batch_id', d.batch_id, 'group_id', d.group_id, 'completion', d.completion, 'url', d.url,
        'state', CASE WHEN d.delivered_at IS NOT NULL THEN 'delivered' WHEN d.next_at IS NULL THEN 'failed' ELSE 'pending' END,
        'n_attempts', d.n_attempts, 'last_status', d.last_status, 'last_error', d.last_error,
        'created_at', d.created_at, 'tried_at', d.tried_at, 'next_at', d.next_at, 'delivered_at', d.delivered_at)
    FROM weft.callback_delivery d WHERE d.batch_id = list_callbacks.batch_id AND d.delivery_id > list_callbacks.after
    ORDER BY d.delivery_id LIMIT list_callbacks.limit_rows;
END $$;
