-- list_versions: a page of the versions of a parameter, the newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: by key, from the end.
-- Raises WF144.
-- before: only older ones; NULL: from the newest.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_versions(tenant_id int, of_name text, before int, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM weft.parameter_version p WHERE p.tenant_id = list_versions.tenant_id AND p.name = of_name
    ) THEN
        PERFORM weft._fail(
            'WF144',
            format('parameter "%s" does not exist', left(of_name, 64)),
            'Nobody has set it.',
            format('Set it with `weft param set %s VALUE`.', left(of_name, 64))
        );
    END IF;
    RETURN QUERY
    SELECT weft._parameter_document(p)
    FROM weft.parameter_version p
    WHERE p.tenant_id = list_versions.tenant_id
        AND p.name = of_name
        AND p.version < coalesce(list_versions.before, 2147483647)
    ORDER BY p.version DESC
    LIMIT limit_rows;
END $$;
