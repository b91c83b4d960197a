-- _set_limit: change the limits of a billing project that a patch names; the driver hears of it and acts at once.
-- Called by: create_project, change_project.   Safe to repeat: yes.   Locks: spend_limit.   Plan: by key.
-- patch: any of cost_max, cost_soft_max (null: none) and on_limit.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._set_limit(of_tenant_id int, of_project_id int, patch jsonb) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT patch ?| '{cost_max,cost_soft_max,on_limit}' THEN
        RETURN;
    END IF;
    INSERT INTO weft.spend_limit AS l (tenant_id, project_id, cost_max, cost_soft_max, on_limit)
    VALUES (of_tenant_id, of_project_id, (patch ->> 'cost_max')::numeric, (patch ->> 'cost_soft_max')::numeric,
        coalesce(patch ->> 'on_limit', 'pause'))
    ON CONFLICT (project_id) DO UPDATE SET version = l.version + 1,
        cost_max = CASE WHEN patch ? 'cost_max' THEN excluded.cost_max ELSE l.cost_max END,
        cost_soft_max = CASE WHEN patch ? 'cost_soft_max' THEN excluded.cost_soft_max ELSE l.cost_soft_max END,
        on_limit = coalesce(patch ->> 'on_limit', l.on_limit);
    PERFORM pg_notify('driver', 'spending');
END $$;
