-- _sink_of: the sink that new batches get by this name.
-- Plan: by key.
-- Raises WF151.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sink_of(of_tenant_id int, of_name text) RETURNS int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_sink int;
BEGIN
    SELECT s.sink_id
    INTO v_sink
    FROM weft.sink s
    WHERE s.tenant_id = of_tenant_id AND s.name = of_name AND s.ended_at IS NULL;
    IF v_sink IS NULL THEN
        PERFORM weft._fail(
            'WF151',
            format('sink "%s" does not exist', left(of_name, 64)),
            'No line has a sink of this name.',
            'Apply one with `weft line apply FILE`.'
        );
    END IF;
    RETURN v_sink;
END $$;
