-- get_lifecycle: the statuses of the lifecycle that new batches get by this name, and what may follow which.
-- Plan: by key.
-- Raises WF141.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_lifecycle(tenant_id int, of_name text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT l.document || jsonb_build_object(
            'lifecycle', l.name, 'setup', l.setup, 'saved_at', l.saved_at, 'saved_by', l.saved_by
        )
        FROM weft.lifecycle l
        WHERE l.lifecycle_id = weft._lifecycle_of(get_lifecycle.tenant_id, of_name)
    );
END $$;
