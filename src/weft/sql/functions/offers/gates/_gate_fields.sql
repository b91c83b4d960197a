-- _gate_fields: a batch's own gates as fields of its document: their kinds with their number of places, or the date from which they open.
-- Called by: _group_documents, for batches with gates.   Safe to repeat: yes, it only reads.   Plan: gates by batch.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_fields(of_batch_id bigint) RETURNS jsonb LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_object_agg(g.kind, coalesce(to_jsonb(g.max_places), to_jsonb(g.opens_at))), '{}')
    FROM weft.gate g WHERE g.batch_id = of_batch_id AND g.key = weft._gate_key('batch', NULL, of_batch_id, NULL)
$$;
