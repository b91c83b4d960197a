-- _limit_cores: tell the gates of running cores what the quotas are now: those of the tenant (-1), of all its
--   users (0), or of one.
-- Safe to repeat: yes.
-- Locks: as _tell_limits. A submission that adds the gate of this user or tenant at the same time is waited
--   for.
-- Plan: gates by kind and key, at most one for each user.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_cores(of_tenant_id int, of_user_id int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_kind text := CASE WHEN of_user_id < 0 THEN 'cores' ELSE 'cores_user' END;
    v_key text;
    v_prefix text;
BEGIN
    SELECT
        weft._gate_key(k.owner, of_tenant_id, NULL, NULL, CASE WHEN of_user_id > 0 THEN of_user_id END),
        weft._gate_key(k.owner, of_tenant_id, NULL, '')
    INTO v_key, v_prefix
    FROM weft._gate_kinds() k
    WHERE k.kind = v_kind;
    IF of_user_id <> 0 THEN
        INSERT INTO weft.gate (kind, key, max_places, max_ever)
        SELECT v_kind, v_key, q.cores_max_m, q.cores_max_m
        FROM weft.quota q
        WHERE q.tenant_id = of_tenant_id AND q.user_id = of_user_id AND q.cores_max_m IS NOT NULL
        ON CONFLICT (kind, key) DO NOTHING;
    END IF;
    -- In a statement of its own, which sees gates that others have added.
    PERFORM weft._tell_limits(
        array_agg(g.gate_id),
        array_agg(
            CASE
                WHEN of_user_id < 0
                    THEN (
                        SELECT q.cores_max_m
                        FROM weft.quota q
                        WHERE q.tenant_id = of_tenant_id AND q.user_id = -1
                    )
                ELSE (
                    SELECT q.cores_max_m FROM weft._user_quotas(of_tenant_id, weft._gate_name(g.key)::int) q
                )
            END::int
        )
    )
    FROM weft.gate g
    WHERE g.kind = v_kind
        AND CASE WHEN of_user_id = 0 THEN starts_with(g.key, v_prefix) ELSE g.key = v_key END;
END $$;
