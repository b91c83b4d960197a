-- _lifecycle_of: the number of the lifecycle that new batches get by this name.
-- Plan: by lifecycle_name_idx.
-- Raises WF141.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lifecycle_of(of_tenant_id int, of_name text) RETURNS int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_id int;
BEGIN
    SELECT l.lifecycle_id
    INTO v_id
    FROM weft.lifecycle l
    WHERE l.tenant_id = of_tenant_id AND l.name = of_name AND l.ended_at IS NULL;
    IF v_id IS NULL THEN
        PERFORM weft._fail(
            'WF141',
            format('lifecycle "%s" does not exist', left(of_name, 64)),
            'No line has a lifecycle of this name.',
            'Save one with `weft line apply FILE`.'
        );
    END IF;
    RETURN v_id;
END $$;
