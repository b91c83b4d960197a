-- What each user has used in a billing project, and each batch that is not removed, by date.
-- What was used earlier is in project_usage alone.
CREATE TABLE weft.user_usage (
    project_id int NOT NULL,
    user_id int NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, user_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);
CREATE TABLE weft.batch_usage (
    batch_id bigint NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    project_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (batch_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);
-- A report reads the dates of its period.
CREATE INDEX batch_usage_project_idx ON weft.batch_usage (project_id, usage_on);
ALTER TABLE weft.user_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE weft.batch_usage ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON weft.user_usage, weft.batch_usage TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.user_usage, weft.batch_usage TO weft_system;
CREATE POLICY tenant_rows ON weft.user_usage TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.user_usage TO weft_system USING (true);
CREATE POLICY tenant_rows ON weft.batch_usage TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.batch_usage TO weft_system USING (true);
-- What a fold found that a batch used.
CREATE TYPE weft.usage_part AS (batch_id bigint, usage_on date, rate_card_id smallint, shape_id int, usage_ms bigint);
