-- _sinks_named: the sinks that have or had this name: what one that is removed has not sent stays in sight.
-- Plan: the sinks of a tenant, which are few.
-- Raises WF151.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sinks_named(of_tenant_id int, of_name text) RETURNS int[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_sinks int[] := ARRAY(
        SELECT s.sink_id FROM weft.sink s WHERE s.tenant_id = of_tenant_id AND s.name = of_name
    );
BEGIN
    IF v_sinks = '{}' THEN
        RETURN ARRAY[weft._sink_of(of_tenant_id, of_name)];
    END IF;
    RETURN v_sinks;
END $$;
