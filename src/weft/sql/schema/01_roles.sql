-- Roles of the cluster (ADR 8), what is noted about this schema, and the row of the leading driver.

-- What made this schema, and the migrations that came to it since (ADR 19). Only the owner reads it.
CREATE TABLE weft.migration (
    name text PRIMARY KEY,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Two roles own functions but no table, one owns the views of dashboards; three may log in and hold EXECUTE
-- on what they use.
DO $$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY[
        'weft_tenant', 'weft_system', 'weft_views', 'weft_api', 'weft_driver', 'weft_worker'
    ] LOOP
        BEGIN
            EXECUTE format(
                'CREATE ROLE %I %s',
                v_role,
                CASE
                    WHEN v_role IN ('weft_tenant', 'weft_system', 'weft_views') THEN 'NOLOGIN'
                    ELSE 'LOGIN'
                END
            );
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another database of this cluster made it
        END;
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA weft TO weft_tenant, weft_system, weft_views, weft_api, weft_driver, weft_worker;
-- Tables and sequences grant this where no other grant stands beside them; walls between tenants are
-- policies.
ALTER DEFAULT PRIVILEGES IN SCHEMA weft GRANT SELECT,
    INSERT,
    UPDATE,
    DELETE ON TABLES TO weft_tenant,
    weft_system;
ALTER DEFAULT PRIVILEGES IN SCHEMA weft GRANT USAGE ON SEQUENCES TO weft_tenant, weft_system;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- Which programs may use this schema. A program is numbered by its newest `pre` migration, and so is a
-- schema.
CREATE TABLE weft.schema_range (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    schema int NOT NULL,
    oldest_program int NOT NULL,
    -- Which database this is: homes that serve several keep the output of each apart. A copy has the same.
    database_id uuid NOT NULL DEFAULT gen_random_uuid(),
    CONSTRAINT schema_range_in_order CHECK (oldest_program <= schema)
);
COMMENT ON COLUMN weft.schema_range.oldest_program
    IS 'raised by the contract step, which takes away what older programs call';
INSERT INTO weft.schema_range (schema, oldest_program) VALUES (0, 0);

-- The term of the leading driver is fenced by `epoch`.
CREATE TABLE weft.driver_state (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    epoch bigint NOT NULL DEFAULT 0,
    waiting boolean NOT NULL DEFAULT false,  -- the leader waits for a notice on channel driver
    heard_at timestamptz NOT NULL DEFAULT now(),  -- of the leader: its term began, or a heartbeat
    -- The settings that functions follow (SETTING_…), as the leading driver handed them over; a missing one
    -- has its default.
    settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object')
) WITH (fillfactor = 10);
INSERT INTO weft.driver_state DEFAULT VALUES;

-- What the last `weft audit` has found, for those who look after a site.
CREATE TABLE weft.last_audit (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    ended_at timestamptz NOT NULL,
    took_ms bigint NOT NULL CHECK (took_ms >= 0),
    version text NOT NULL CHECK (length(version) <= 64),  -- of the program that looked
    n_checks int NOT NULL CHECK (n_checks >= 0),
    -- checks that do not hold: check, sentence, n_rows
    wrong jsonb NOT NULL CHECK (jsonb_typeof(wrong) = 'array')
);
