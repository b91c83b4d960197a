-- set_secret: keep the encrypted value of a secret of a user; one of the same name is replaced.
-- Called by: Store.set_secret (api).   Safe to repeat: yes.
-- Locks: user (two requests do not pass the limit together); secret.   Plan: user and secrets of the user by key.
-- Returns: its document; no row if the user has too many already, or is removed.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_secret(tenant_id int, user_id int, of_name text, of_body bytea, secrets_max int,
    at timestamptz DEFAULT clock_timestamp()) RETURNS SETOF jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_new weft.secret;
BEGIN
    PERFORM weft._as_tenant(set_secret.tenant_id);
    PERFORM FROM weft.tenant_user u WHERE u.user_id = set_secret.user_id AND u.removed_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND OR secrets_max <= (
        SELECT count(*) FROM weft.secret s WHERE s.user_id = set_secret.user_id AND s.name <> of_name)
    THEN
        RETURN;
    END IF;
    INSERT INTO weft.secret AS s (user_id, name, tenant_id, body, created_at, updated_at)
    VALUES (set_secret.user_id, of_name, set_secret.tenant_id, of_body, set_secret.at, set_secret.at)
    ON CONFLICT (user_id, name) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
    RETURNING s.* INTO v_new;
    RETURN NEXT weft._secret_document(v_new);
END $$;
