-- Groups that are held, with all below them; 0: the batch. Claimers pass over their jobs. A sweep parks those that are ready: in
-- weft.ready_job under the negative number of their pool, where no claimer looks, and so are the ranges of a held batch. When the
-- group is released the row stays until all that is not held otherwise is listed again.
CREATE TABLE weft.group_hold (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    held_at timestamptz NOT NULL,
    released_at timestamptz,                   -- NULL: it is in force
    sweep_job int NOT NULL DEFAULT 0,          -- parked, or listed again, up to this job
    swept boolean NOT NULL DEFAULT false,
    PRIMARY KEY (batch_id, group_id)
);
CREATE INDEX group_hold_unswept_idx ON weft.group_hold (batch_id) WHERE NOT swept;

CREATE TABLE weft.job_hold (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    held_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

-- Jobs that became ready while they were held, for the sweep to park.
CREATE TABLE weft.held_ready (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, job_id)
);

ALTER TABLE weft.batch DROP COLUMN held;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['group_hold', 'job_hold', 'held_ready'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
