-- Roles of the cluster. Two own functions but no table; three may log in and hold EXECUTE on what they use (ADR 0008).
DO $$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['weft_tenant', 'weft_system', 'weft_api', 'weft_driver', 'weft_worker'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I %s', v_role,
                           CASE WHEN v_role IN ('weft_tenant', 'weft_system') THEN 'NOLOGIN' ELSE 'LOGIN' END);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- another database of this cluster made it
        END;
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA weft TO weft_tenant, weft_system, weft_api, weft_driver, weft_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA weft GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO weft_tenant, weft_system;
ALTER DEFAULT PRIVILEGES IN SCHEMA weft GRANT USAGE ON SEQUENCES TO weft_tenant, weft_system;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
