-- _has_work_in: whether a user has ready work in some of these lanes, and is of this tenant; NULL: of any.
-- Plan: as _lanes_with_work. It runs with the settings of its callers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_work_in(
    of_pool_id int, of_user_id int, user_tenant_id int, lanes int[], of_tenant_id int
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (of_tenant_id IS NULL OR user_tenant_id = of_tenant_id)
        AND weft._lanes_with_work(of_pool_id, of_user_id, lanes) IS NOT NULL
$$;
