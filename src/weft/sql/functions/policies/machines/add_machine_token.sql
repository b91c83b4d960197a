-- add_machine_token: let the worker of a machine that is being made reach the api, for its pool, under its
--   name, for a week; that grows as long as its provider has the machine, and ends with it. Each call of the
--   provider gets another one: nobody knows which of them arrived.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; user (new rows); token (new rows).
-- Plan: machine by name; the first tenant and its user by index.
-- Only the SHA-256 of the token is kept. Names are patterns in tokens, so what means something there stands
--   in brackets.
-- Returns: whether it was added; false: the machine is not being made any more, or the user of machines was
--   removed or has another role.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_machine_token(epoch bigint, of_machine text, of_hash bytea)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_tenant int := (SELECT min(t.tenant_id) FROM weft.tenant t);
BEGIN
    INSERT INTO weft.tenant_user (tenant_id, name, role)
    SELECT v_tenant, 'weft-machines', 'worker'
    WHERE NOT EXISTS (
        SELECT
        FROM weft.tenant_user u
        WHERE u.tenant_id = v_tenant AND u.name_key = weft._name_key('weft-machines')
    )
    ON CONFLICT DO NOTHING;
    INSERT INTO weft.token (
        token_hash, tenant_id, user_id, name, scopes, expires_at, kind, pool, worker_names
    )
    SELECT
        of_hash, u.tenant_id, u.user_id, m.name, ARRAY['work'],
        clock_timestamp() + interval '7 days',
        'machine',
        p.name,
        regexp_replace(m.name, '([*?[])', '[\1]', 'g')
    FROM weft.machine m
    JOIN weft.pool p
    USING (pool_id)
    JOIN weft.tenant_user u ON u.tenant_id = v_tenant
    WHERE m.name = of_machine
        AND m.state = 'creating'
        AND u.name = 'weft-machines'
        AND u.role = 'worker'
        AND u.removed_at IS NULL;
    RETURN FOUND;
END $$;
