-- A limit that is near its end lets only those jobs start that fit below it (ADR 84): its hold admits jobs that have an admission.
ALTER TABLE weft.spend_limit ADD COLUMN near boolean NOT NULL DEFAULT false;  -- all workers together could use what is left soon
ALTER TABLE weft.group_hold ADD COLUMN admits boolean NOT NULL DEFAULT false;  -- of a limit that is near: admitted jobs pass it

-- An attempt that a limit lets start; one row for each limit that is near. It admits while the attempt has not begun.
CREATE TABLE weft.admission (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    limit_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    used_per_hour numeric NOT NULL,  -- what it will use, in the measure of the limit
    admitted_at timestamptz NOT NULL,
    -- false: the driver saw that it was claimed or ended, or took it back. One that is older than the hold admits nothing, either.
    open boolean NOT NULL DEFAULT true,
    PRIMARY KEY (batch_id, job_id, limit_id, attempt)
);
CREATE INDEX admission_open_idx ON weft.admission (limit_id) WHERE open;
CREATE INDEX admission_limit_idx ON weft.admission (limit_id);
ALTER TABLE weft.admission ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON weft.admission TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.admission TO weft_system;
CREATE POLICY tenant_rows ON weft.admission TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.admission TO weft_system USING (true);
