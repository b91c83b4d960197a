-- get_products: documents of those of these products that the caller sees, the newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: by key; messages by job and file.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_products(tenant_id int, product_ids bigint[]) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT jsonb_build_object(
        'id', p.product_id, 'batch_id', p.batch_id, 'job_id', p.job_id, 'attempt', p.attempt, 'line', p.line,
        'product', p.document, 'inputs', p.inputs, 'name', p.name, 'attributes', p.attributes, 'user', u.name,
        'billing_project', j.name, 'kept_at', p.kept_at,
        'check', (
            SELECT jsonb_build_object(
                'state', d.held, 'sink', s.name, 'delivery_id', d.delivery_id, 'error', d.last_error
            )
            FROM weft.callback_delivery d
            JOIN weft.sink s ON s.sink_id = d.sink_id
            WHERE d.batch_id = p.batch_id
                AND d.job_id = p.job_id
                AND d.file = 'product ' || p.line
                AND d.held IS NOT NULL
            ORDER BY d.held <> 'held', d.delivery_id
            LIMIT 1
        )
    )
    FROM weft.product p
    LEFT JOIN weft.tenant_user u ON u.user_id = p.user_id
    LEFT JOIN weft.billing_project j ON j.project_id = p.project_id
    WHERE p.product_id = ANY (get_products.product_ids)
        AND p.kept_at IS NOT NULL
        AND weft._permission(p.batch_id, p.user_id, p.project_id) > 0
    ORDER BY p.product_id DESC;
END $$;
