-- list_trail: a page of the trail of a tenant, newest first.
-- Safe to repeat: yes, it only reads.
-- Plan: as _trail_page.
-- Returns: documents.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_trail(
    tenant_id int,
    of_user text,
    of_action text,
    of_batch_id bigint,
    of_number bigint,
    since timestamptz,
    before bigint,
    limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT *
    FROM weft._trail_page(
        list_trail.tenant_id,
        list_trail.of_user,
        list_trail.of_action,
        list_trail.of_batch_id,
        list_trail.of_number,
        list_trail.since,
        list_trail.before,
        list_trail.limit_rows
    );
END $$;
