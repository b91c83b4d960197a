-- _lock_for_bunch: note what the jobs of a bunch bring into their batch, and take the locks that precede that
--   of the update.
-- Safe to repeat: yes.
-- Locks: batch_row (with gates of jobs, or edges); batch (shared, only with parents in earlier updates).
-- Plan: the batch by key.
-- is_limited: limits give the jobs gates.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_for_bunch(of_batch_id bigint, jobs weft.job_columns, is_limited boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_has_gates boolean := is_limited;
    v_has_edges boolean := coalesce(cardinality(jobs.edge_children), 0) > 0;
BEGIN
    IF NOT v_has_gates AND cardinality(jobs.rare_fields) > 0 THEN
        v_has_gates := EXISTS (SELECT FROM unnest(jobs.rare_fields) f WHERE f ? 'gates');
    END IF;
    IF v_has_gates OR v_has_edges THEN
        -- Before the other locks: who deletes the batch holds its row while it waits for them.
        UPDATE weft.batch b
        SET gated = b.gated OR v_has_gates, has_edges = b.has_edges OR v_has_edges
        WHERE b.batch_id = of_batch_id AND (v_has_gates AND NOT b.gated OR v_has_edges AND NOT b.has_edges);
        -- Before any row: a commit later in this transaction takes this lock, and a cancel that holds it
        -- takes the rows.
        PERFORM pg_advisory_xact_lock_shared(of_batch_id)
        WHERE EXISTS (SELECT FROM unnest(jobs.edge_parents) p WHERE p < 0);
    END IF;
END $$;
