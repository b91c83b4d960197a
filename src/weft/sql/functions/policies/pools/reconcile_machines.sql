-- reconcile_machines: compare what a provider has with the machines that are noted. One that nobody noted,
--   one that the provider made twice and one that it does not have any more are deleted; where a worker
--   lives, when nothing runs there. A machine whose worker lives is there, whatever the provider says.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; token; machine; as move_machine.
-- waits: why each of them has not begun; empty: it has. One that begins is as old as a machine that was asked
--   for now.
-- names: what the provider listed; asked_s: how long ago it was asked. Providers show what they did only
--   after a while, so what changed within two minutes before is left for the next time.
--   The tokens of machines that are there are good for another week.
-- Plan: machines and their tokens by name; those of the provider that are not deleted.
-- Returns: what was wrong with which machine.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.reconcile_machines(
    epoch bigint, of_provider text, names text[], waits text[], asked_s double precision
) RETURNS TABLE (pool text, machine text, finding text) LANGUAGE plpgsql AS $$
DECLARE
    v_wrong record;
    v_before timestamptz := clock_timestamp() - (asked_s + 120) * interval '1 second';
BEGIN
    UPDATE weft.token t
    SET expires_at = clock_timestamp() + interval '7 days'
    WHERE t.kind = 'machine'
        AND t.name = ANY (names)
        AND t.expires_at < clock_timestamp() + interval '6 days';
    UPDATE weft.machine m
    SET waits = n.waits, changed_at = CASE WHEN n.waits IS NULL THEN clock_timestamp() ELSE m.changed_at END
    FROM (
        SELECT x.name, left(nullif(x.waits, ''), 1000) AS waits
        FROM unnest(reconcile_machines.names, reconcile_machines.waits) x (name, waits)
    ) n
    WHERE m.name = n.name
        AND m.provider = of_provider
        AND m.state = 'creating'
        AND m.waits IS DISTINCT FROM n.waits;
    INSERT INTO weft.machine AS m (
        pool_id, name, provider, flavour, region, cpu_m, price_per_hour, pool_max, state, reason, created_at,
        changed_at, strayed_at
    )
    SELECT p.pool_id, n.name, of_provider, '', '', 1, 0, 0, 'active', 'nobody noted it', d.at, d.at, d.at
    FROM (SELECT DISTINCT x.name FROM unnest(names) x (name) WHERE length(x.name) BETWEEN 1 AND 256) n
    CROSS JOIN LATERAL (
        SELECT x.pool_id
        FROM weft.pool x
        WHERE x.plan ->> 'provider' = of_provider
        ORDER BY starts_with(n.name, x.name || '-') DESC, length(x.name) DESC, x.pool_id
        LIMIT 1
    ) p
    CROSS JOIN (SELECT clock_timestamp() AS at) d
    WHERE NOT EXISTS (
        SELECT
        FROM weft.machine o
        WHERE o.name = n.name
            AND (o.state <> 'deleted' OR o.changed_at >= v_before OR o.provider <> of_provider)
    )
    ORDER BY n.name
    ON CONFLICT (name) DO UPDATE
    SET state = 'active', strayed_at = excluded.strayed_at, changed_at = excluded.changed_at
    WHERE m.state = 'deleted' AND m.changed_at < v_before;
    FOR v_wrong IN
        SELECT p.name AS pool, m.name AS machine, x.reason
        FROM weft.machine m
        JOIN weft.pool p
        USING (pool_id)
        LEFT JOIN (SELECT n.name, count(*) AS n FROM unnest(names) n (name) GROUP BY 1) f ON f.name = m.name
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN m.strayed_at IS NOT NULL THEN 'its provider has it, and weft has not asked for it'
                WHEN f.n > 1 THEN 'its provider made it twice'
                WHEN f.n IS NULL
                    AND m.provider_id IS NOT NULL
                    AND m.changed_at < v_before
                    AND NOT EXISTS (
                        SELECT
                        FROM weft.worker w
                        JOIN weft.worker_incarnation i
                        USING (worker_id)
                        WHERE w.pool_id = m.pool_id AND w.name = m.name AND i.ended_at IS NULL
                    )
                    THEN 'its provider has it no more'
            END AS reason
        ) x
        WHERE m.provider = of_provider
            AND m.state IN ('creating', 'active', 'cordoned')
            AND x.reason IS NOT NULL
        ORDER BY m.machine_id
    LOOP
        IF weft.move_machine(reconcile_machines.epoch, v_wrong.machine, 'delete', v_wrong.reason) THEN
            RETURN QUERY SELECT v_wrong.pool, v_wrong.machine, v_wrong.reason;
        END IF;
    END LOOP;
END $$;
