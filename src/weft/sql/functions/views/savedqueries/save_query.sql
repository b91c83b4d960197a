-- save_query: give a query of a user a name; one of the same name is replaced.
-- Safe to repeat: yes.
-- Locks: user (two requests do not pass the limit together); saved_query.
-- Plan: user and their queries by key.
-- Returns: its document; NULL: the user has queries_max others.
-- Raises WF131 (the user is removed).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_query(
    tenant_id int,
    user_id int,
    of_name text,
    of_query text,
    queries_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = save_query.user_id AND u.removed_at IS NULL
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF131',
            'the request is not authenticated',
            'The user was removed meanwhile.',
            'Use another token.'
        );
    ELSIF queries_max <= (
        SELECT count(*) FROM weft.saved_query s WHERE s.user_id = save_query.user_id AND s.name <> of_name
    ) THEN
        RETURN NULL;
    END IF;
    INSERT INTO weft.saved_query AS s (user_id, name, tenant_id, query, updated_at)
    VALUES (save_query.user_id, of_name, save_query.tenant_id, of_query, save_query.at)
    ON CONFLICT (user_id, name) DO UPDATE
    SET query = excluded.query, updated_at = excluded.updated_at;
    RETURN jsonb_build_object('name', of_name, 'query', of_query, 'updated_at', save_query.at);
END $$;
