-- _sees_maker: whether the caller of this transaction sees what makes batches, a schedule or a source: as
--   they would see its batches.
-- Plan: project by name, member by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_maker(maker anyelement) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_caller int := weft._caller_id();
BEGIN
    RETURN v_caller IS NULL
        OR v_caller = maker.user_id
        OR EXISTS (
            SELECT
            FROM weft.billing_project p
            JOIN weft.billing_member m
            USING (project_id)
            WHERE p.tenant_id = maker.tenant_id
                AND p.name_key = weft._name_key(maker.billing_project)
                AND m.user_id = v_caller
        );
END $$;
