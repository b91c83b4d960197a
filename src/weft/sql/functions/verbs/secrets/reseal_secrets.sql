-- reseal_secrets: replace encrypted values by the same values, encrypted with another key.
-- Safe to repeat: yes: one that has changed since it was read stays.
-- Locks: secret (in key order).
-- Plan: by key.
-- by_user_id: the caller, of any tenant.
-- Returns: how many were replaced; 0 if the caller is no longer an admin.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.reseal_secrets(
    by_user_id int, user_ids int[], names text[], former bytea[], bodies bytea[]
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_count int;
BEGIN
    PERFORM
    FROM weft.tenant_user u
    WHERE u.user_id = reseal_secrets.by_user_id AND u.role = 'admin' AND u.removed_at IS NULL;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    WITH locked AS (
        SELECT s.ctid AS place, w.body
        FROM unnest(reseal_secrets.user_ids, reseal_secrets.names, former, bodies) AS w (u, n, f, body)
        CROSS JOIN LATERAL (
            SELECT s.ctid
            FROM weft.secret s
            WHERE s.user_id = w.u AND s.name = w.n AND s.body = w.f
            FOR NO KEY UPDATE
        ) s
        ORDER BY w.u, w.n
    )
    UPDATE weft.secret s
    SET body = l.body
    FROM locked l
    WHERE s.ctid = l.place;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
