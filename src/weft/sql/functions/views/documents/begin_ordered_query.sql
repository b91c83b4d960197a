-- begin_ordered_query: prepare this transaction, as begin_query does, for a query of batches in the order of
--   an index.
-- For: Store.sort_batches, Store.query_batches, Store.explain_batches (api, driver), before the statement of
--   weft.store.query_sql.
-- Safe to repeat: yes, it only reads.
-- Plan: nothing is read. Whatever the statistics say, a page ends with its last row: nothing is sorted.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.begin_ordered_query(tenant_id int, timeout_ms int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.begin_query(begin_ordered_query.tenant_id, NULL, NULL, NULL, begin_ordered_query.timeout_ms);
    PERFORM set_config(name, 'off', true)
    FROM unnest(ARRAY['enable_sort', 'enable_incremental_sort', 'enable_seqscan', 'enable_bitmapscan']) name;
END $$;
