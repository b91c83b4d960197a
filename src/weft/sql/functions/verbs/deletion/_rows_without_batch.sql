-- _rows_without_batch: the batches that are not there, and the tables that have rows of them, though they
--   should not.
-- Runs of schedules, entries of the trail, items of sources and products outlive their batches; so do the
--   operation that removes one, and the events that report it. What is folded stays until the next fold.
-- Plan: every table that has a column `batch_id`, as a whole.
-- For: the audit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._rows_without_batch() RETURNS TABLE (batch_id bigint, kind text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_table text;
BEGIN
    FOR v_table IN
        SELECT c.relname
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'batch_id'
        WHERE c.relnamespace = 'weft'::regnamespace
            AND c.relkind IN ('r', 'p')
            AND NOT c.relispartition
            AND c.relname <> ALL (
                '{schedule_run,trail_entry,trail_unsealed,source,source_item,source_item_change,product}'
            )
        ORDER BY c.relname
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT DISTINCT t.batch_id::bigint, %1$L FROM weft.%1$I t
            WHERE t.batch_id > 0 AND NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = t.batch_id) AND ',
            v_table
        ) || CASE v_table
            WHEN 'operation' THEN $q$t.kind <> 'delete_batch'$q$
            WHEN 'event' THEN $q$t.kind <> 'batch.deleted' AND t.kind NOT LIKE 'operation.%'$q$
            WHEN 'job_delta' THEN 'NOT pg_visible_in_snapshot(t.xid, (SELECT f.upto FROM weft.fold f))'
            ELSE 'true'
        END;
    END LOOP;
END $$;
