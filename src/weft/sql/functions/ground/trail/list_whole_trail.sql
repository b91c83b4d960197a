-- list_whole_trail: a page of the trail of all tenants, newest first.
-- Plan: as _trail_page.
-- Returns: documents.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_whole_trail(
    of_user text,
    of_action text,
    of_batch_id bigint,
    of_number bigint,
    since timestamptz,
    before bigint,
    limit_rows int
) RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT *
    FROM weft._trail_page(
        NULL,
        list_whole_trail.of_user,
        list_whole_trail.of_action,
        list_whole_trail.of_batch_id,
        list_whole_trail.of_number,
        list_whole_trail.since,
        list_whole_trail.before,
        list_whole_trail.limit_rows
    )
$$;
