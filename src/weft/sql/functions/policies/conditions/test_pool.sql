-- test_pool: whether a pool has a worker that takes jobs, with this much free: the tester `pool` of a
--   condition. A pool that does not serve its tenant is none.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: the condition by key; the workers of the pool; if room is asked for, as _live_attempts of each.
-- Returns: passed, and what to tell the owners of the jobs: no more than the list of workers shows them.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.test_pool(
    epoch bigint,
    of_condition_id bigint,
    of_pool text,
    free_cpu_m bigint,
    OUT passed boolean,
    OUT message text
) LANGUAGE plpgsql AS $$
DECLARE
    v_pool int;
    v_active bigint;
    v_free bigint;
BEGIN
    SELECT p.pool_id
    INTO v_pool
    FROM weft.condition c
    JOIN weft.pool p ON p.name = of_pool AND weft._serves_tenant(p, c.tenant_id)
    WHERE c.condition_id = of_condition_id;
    SELECT
        count(*),
        count(*) FILTER (
            WHERE free_cpu_m = 0
                OR i.cpu_m - free_cpu_m >= (
                    SELECT coalesce(sum(s.cpu_m), 0)
                    FROM weft._live_attempts(i.incarnation_id) j
                    JOIN weft.shape s ON s.shape_id = j.shape_id
                )
        )
    INTO v_active, v_free
    FROM weft.worker_incarnation i
    JOIN weft.worker w
    USING (worker_id)
    WHERE i.ended_at IS NULL
        AND i.pool_id = v_pool
        AND weft._worker_state(w, i) = 'active'
        AND weft._has_cores(i);
    passed := v_free > 0;
    message := CASE
        WHEN v_pool IS NULL THEN format('there is no pool %s', left(of_pool, 40))
        WHEN v_active = 0 THEN format('pool %s has no active worker', of_pool)
        WHEN passed THEN format('pool %s has active workers: %s', of_pool, v_free)
        ELSE format('no active worker of pool %s has %s free cores', of_pool, round(free_cpu_m / 1000.0, 3))
    END;
END $$;
