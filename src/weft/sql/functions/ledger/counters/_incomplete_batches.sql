-- _incomplete_batches: the batches of a tenant that are not complete, or may not be: something happened to them since the last fold.
-- Plan: open ones of the tenant by index, and the deltas that are not folded.   Owner: weft_tenant.
-- states: of their only jobs, that are looked for: of those that have ended foreign_end knows all but what is not folded; NULL: all.
CREATE OR REPLACE FUNCTION weft._incomplete_batches(of_tenant_id int, states smallint[]) RETURNS bigint[] LANGUAGE sql STABLE AS $$
    SELECT ARRAY(SELECT c.batch_id FROM weft.group_count c WHERE c.tenant_id = of_tenant_id AND c.group_id = 0 AND NOT c.complete
            AND (states IS NULL OR STATE_SUCCESS > ANY (states))
        UNION SELECT u.batch_id FROM weft._unfolded_batches(of_tenant_id) u (batch_id))
$$;
