-- _set_project_limit: change what a patch of a billing project's document names of its limit in money.
-- Safe to repeat: yes.
-- Locks: as _set_limit.
-- Plan: by key.
-- patch: any of cost_max, cost_soft_max (null: none) and on_limit.
-- Raises WF140.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._set_project_limit(of_tenant_id int, of_project_id int, patch jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_limit weft.spend_limit;
    v_patch jsonb;
BEGIN
    SELECT jsonb_object_agg(replace(p.key, 'cost_', 'amount_'), p.value)
    INTO v_patch
    FROM jsonb_each(patch) p
    WHERE p.key IN ('cost_max', 'cost_soft_max', 'on_limit');
    IF v_patch IS NOT NULL THEN
        v_limit.tenant_id := of_tenant_id;
        v_limit.project_id := of_project_id;
        v_limit.measure := 'cost';
        PERFORM weft._set_limit(v_limit, v_patch);
    END IF;
END $$;
