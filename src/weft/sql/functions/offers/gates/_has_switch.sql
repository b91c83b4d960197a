-- _has_switch: whether any switch in a batch is closed or was a moment ago; if so, each of its jobs is checked.
-- Plan: as _switches.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._has_switch(of_batch_id bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM weft._switches(of_batch_id))
$$;
