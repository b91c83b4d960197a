-- _running_gate: max_running of a batch as its list of gates. Kept for one release.
-- Called by: create_batch, submit.   Safe to repeat: yes, it only computes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._running_gate(max_running int) RETURNS jsonb LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN max_running IS NULL THEN '[]'
           ELSE jsonb_build_array(jsonb_build_object('kind', 'max_running', 'max_places', max_running)) END
$$;
