-- add_app_part: store one part of a packed folder of an application.
-- Safe to repeat: yes, a part that is there stays.
-- Locks: as _at_store_app.
-- Plan: by key.
-- Raises WF134.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_app_part(
    tenant_id int,
    user_id int,
    digest bytea,
    part int,
    n_bytes bigint,
    body bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM weft.app_part p
        WHERE p.tenant_id = add_app_part.tenant_id
            AND p.digest = add_app_part.digest
            AND p.part = add_app_part.part
    ) THEN
        RETURN;
    END IF;
    PERFORM weft._at_store_app(add_app_part.tenant_id, add_app_part.user_id, octet_length(add_app_part.body));
    INSERT INTO weft.app_part (tenant_id, digest, part, n_bytes, body, user_id, added_at)
    VALUES (
        add_app_part.tenant_id,
        add_app_part.digest,
        add_app_part.part,
        add_app_part.n_bytes,
        add_app_part.body,
        add_app_part.user_id,
        add_app_part.at
    )
    ON CONFLICT DO NOTHING;
END $$;
