-- _check_pools: raise WF126 if queues of a tenant may not use one of these pools.
-- Safe to repeat: yes.
-- For: save_queues, after it has named them: whoever gives a pool to a tenant waits for us, or we see it.
-- Locks: pool (shared, in the order of their ids).
-- Plan: pools by name.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_pools(of_tenant_id int, names text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM FROM weft.pool p WHERE p.name = ANY (names) ORDER BY p.pool_id FOR SHARE;
    SELECT p.name
    INTO v_name
    FROM weft.pool p
    WHERE p.name = ANY (names) AND NOT weft._serves_tenant(p, of_tenant_id)
    ORDER BY p.name
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF126',
            format('queues of this tenant may not use a pool "%s"', v_name),
            'The name is taken.',
            'Use one of those that `weft pool ls` shows, or ask an administrator of the site for a pool.'
        );
    END IF;
END $$;
