-- _trail_page: a page of the trail, newest first.
-- Plan: entries by user, batch or tenant, or by number; never a scan, but for an action that is rare.
-- of_tenant_id: NULL: of all tenants.
-- since: entries sealed since then, among which are all of that time.
-- before: NULL: the first page.
-- Returns: documents.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._trail_page(
    of_tenant_id int,
    of_user text,
    of_action text,
    of_batch_id bigint,
    of_number bigint,
    since timestamptz,
    before bigint,
    limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_first bigint;
BEGIN
    IF since IS NOT NULL THEN
        SELECT t.number
        INTO v_first
        FROM weft.trail_entry t
        WHERE t.sealed_at >= since
        ORDER BY t.sealed_at, t.number
        LIMIT 1;
        IF v_first IS NULL THEN
            RETURN;
        END IF;
    END IF;
    RETURN QUERY
    SELECT jsonb_build_object(
        'number', t.number, 'at', t.at, 'tenant', n.name, 'user', t.user_name, 'token_id', t.token_id,
        'address', t.address, 'trace_id', t.trace_id, 'action', t.action, 'path', t.path,
        'batch_id', t.batch_id, 'refused', t.refused, 'times', coalesce(t.times, 1), 'sealed_at', t.sealed_at,
        'digest', encode(t.digest, 'hex')
    )
    FROM weft.trail_entry t
    LEFT JOIN weft.tenant n
    USING (tenant_id)
    WHERE (of_tenant_id IS NULL OR t.tenant_id = of_tenant_id)
        AND (of_user IS NULL OR t.user_name = of_user)
        AND (of_action IS NULL OR t.action = of_action)
        AND (of_batch_id IS NULL OR t.batch_id = of_batch_id)
        AND (of_number IS NULL OR t.number = of_number)
        AND (v_first IS NULL OR t.number >= v_first)
        AND (since IS NULL OR t.at >= since)
        AND (before IS NULL OR t.number < before)
    ORDER BY t.number DESC
    LIMIT limit_rows;
END $$;
