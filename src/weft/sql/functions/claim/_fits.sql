-- _fits: whether a worker holds what a shape asks for besides cpu and memory.
-- Called by: _may_claim, for jobs that ask for more.   Safe to repeat: yes, it only reads.   Plan: shape by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fits(of_shape_id int, has_storage_mib bigint, has_gpu int) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM weft.shape s
        WHERE s.shape_id = of_shape_id AND s.storage_mib <= has_storage_mib AND s.gpu <= has_gpu AND s.countables = '{}')
$$;
