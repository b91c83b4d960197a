-- create_project: make a billing project, with the caller as its first member.
-- Safe to repeat: with an idempotency key.
-- Locks: as _set_project_limit (nobody else).
-- Raises WF123 (there is one, or was: its name stays on bills).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_project(
    tenant_id int, user_id int, of_name text, cost_max numeric, idempotency_key text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_project int;
BEGIN
    INSERT INTO weft.billing_project (tenant_id, name, idempotency_key)
    VALUES (create_project.tenant_id, of_name, create_project.idempotency_key)
    ON CONFLICT DO NOTHING
    RETURNING project_id
    INTO v_project;
    IF v_project IS NOT NULL THEN
        INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
        VALUES (v_project, create_project.user_id, create_project.tenant_id);
        IF create_project.cost_max IS NOT NULL THEN
            PERFORM weft._set_project_limit(
                create_project.tenant_id, v_project, jsonb_build_object('cost_max', create_project.cost_max)
            );
        END IF;
        RETURN;
    END IF;
    PERFORM
    FROM weft.billing_project p
    WHERE p.tenant_id = create_project.tenant_id
        AND p.name = of_name
        AND p.deleted_at IS NULL
        AND p.idempotency_key = create_project.idempotency_key;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF123',
            format('billing project "%s" exists already', of_name),
            'Names are unique in a tenant, whether in capitals or not; those of deleted projects stay on bills.',
            'Choose another name.'
        );
    END IF;
END $$;
