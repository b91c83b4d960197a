-- begin_query: prepare this transaction for a query of the language: tenant, time limit, and plans that
--   return the first rows soon.
-- For: Store.query_jobs, Store.query_batches (api), Store.find_jobs (driver), before the statement of
--   weft.store.query_sql.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF103.
-- Returns: the highest job number; for a group (by number, path or name) its number, its jobs at the last
--   fold, and the group numbers in the rows of its jobs, if few. For the root or no group these are NULL;
--   without a batch there is only the first, as 0.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.begin_query(
    tenant_id int, batch_id bigint, of_group int, of_path text, timeout_ms int
) RETURNS TABLE (last_job int, group_id int, n_jobs bigint, numbers int[]) LANGUAGE plpgsql AS $$
DECLARE
    v_group int;
    v_last int := 0;
    v_n bigint;
    v_numbers int[];
BEGIN
    PERFORM
        weft._as_tenant(begin_query.tenant_id),
        set_config('statement_timeout', timeout_ms::text, true),
        set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true),
        set_config('plan_cache_mode', 'force_custom_plan', true);
    IF begin_query.batch_id IS NOT NULL THEN
        -- From here on, too, the look-ups of this function. Jobs come by key, in the order of their numbers,
        -- whatever the statistics say: a page ends with its last row.
        PERFORM set_config(name, 'off', true)
        FROM unnest(
            ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_hashagg', 'enable_sort']
        ) name;
        PERFORM weft._check_batch(begin_query.batch_id);
        SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = begin_query.batch_id;
        IF of_group IS NOT NULL OR of_path IS NOT NULL THEN
            v_group := nullif(weft._find_group(begin_query.batch_id, of_group, of_path), 0);
        END IF;
        IF v_group IS NOT NULL THEN
            SELECT c.n_pending + c.n_ready + c.n_queued + c.n_creating + c.n_running + c.n_blocked
                + c.n_succeeded + c.n_failed + c.n_errored + c.n_cancelled
            INTO v_n
            FROM weft.group_count c
            WHERE c.batch_id = begin_query.batch_id AND c.group_id = v_group;
            SELECT array_agg(x.g)
            INTO v_numbers
            FROM (
                SELECT a.group_id AS g
                FROM weft.group_ancestor a
                WHERE a.batch_id = begin_query.batch_id AND a.ancestor_id = v_group
                LIMIT 9
            ) x;
        END IF;
    END IF;
    RETURN QUERY
    SELECT v_last, v_group, coalesce(v_n, 0), CASE WHEN cardinality(v_numbers) < 9 THEN v_numbers END;
END $$;
