-- Limits of what billing projects spend: what slows them down, what pauses their batches or cancels them.
CREATE TABLE weft.spend_limit (
    limit_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    project_id int NOT NULL UNIQUE REFERENCES weft.billing_project,
    cost_max numeric CHECK (cost_max BETWEEN 0 AND 1e15),            -- NULL: there is none
    cost_soft_max numeric CHECK (cost_soft_max BETWEEN 0 AND 1e15),  -- NULL: nothing slows it down
    on_limit text NOT NULL DEFAULT 'pause' CHECK (on_limit IN ('pause', 'cancel')),
    version int NOT NULL DEFAULT 1,                                  -- of the three above
    judged_version int,                                              -- of which the driver knows; NULL: of none
    stage text NOT NULL DEFAULT 'below' CHECK (stage IN ('below', 'slowed', 'reached')),
    applied_at timestamptz DEFAULT clock_timestamp()                 -- since when batches agree with the stage; NULL: not all do
);
CREATE INDEX spend_limit_unapplied_idx ON weft.spend_limit (limit_id) WHERE applied_at IS NULL;
ALTER TABLE weft.spend_limit ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.spend_limit TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.spend_limit TO weft_system USING (true);
INSERT INTO weft.spend_limit (tenant_id, project_id, cost_max)
SELECT p.tenant_id, p.project_id, least(p.cost_max, 1e15) FROM weft.billing_project p WHERE p.cost_max IS NOT NULL;
-- A batch can be held by a person and by a limit, each without regard to the other.
ALTER TABLE weft.group_hold ADD COLUMN limit_id int NOT NULL DEFAULT 0;  -- 0: a person holds it
ALTER TABLE weft.group_hold DROP CONSTRAINT group_hold_pkey, ADD CONSTRAINT group_hold_pkey PRIMARY KEY (batch_id, group_id, limit_id);
DO $$
BEGIN
    -- That of the release before names the key, and is called until the functions are replaced, a little later.
    IF to_regproc('weft.hold_group') IS NOT NULL THEN
        EXECUTE replace(pg_get_functiondef('weft.hold_group'::regproc), 'ON CONFLICT (batch_id, group_id) DO',
            'ON CONFLICT (batch_id, group_id, limit_id) DO');
    END IF;
END $$;
CREATE INDEX group_hold_limit_idx ON weft.group_hold (limit_id, batch_id) WHERE limit_id <> 0;
-- Attempts are stopped for a limit as for another job.
ALTER TABLE weft.preemption
    ALTER COLUMN for_batch_id DROP NOT NULL,  -- NULL: for a limit
    ALTER COLUMN for_job_id DROP NOT NULL,
    ALTER COLUMN for_attempt DROP NOT NULL;
ALTER TABLE weft.user_share ALTER COLUMN weight TYPE double precision;
