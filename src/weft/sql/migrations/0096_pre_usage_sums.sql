-- What was used on each date, as milliseconds times what was asked for of each resource: what pages show of costs is read from few rows,
-- however many shapes, users and billing projects there are. Folded with the counters.
CREATE TABLE weft.usage_sum (
    tenant_id int NOT NULL,
    project_id int NOT NULL,  -- 0: all billing projects of the tenant
    user_id int NOT NULL,     -- 0: all users; 2147483647: those for whom no usage was kept yet
    usage_on date NOT NULL,   -- -infinity: all dates together, for a billing project and all users
    rate_card_id smallint NOT NULL,
    cpu numeric NOT NULL,
    memory numeric NOT NULL,
    storage numeric NOT NULL,
    gpu numeric NOT NULL,
    PRIMARY KEY (tenant_id, project_id, user_id, usage_on, rate_card_id)
) WITH (fillfactor = 50);
ALTER TABLE weft.usage_sum ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON weft.usage_sum TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.usage_sum TO weft_system;
CREATE POLICY tenant_rows ON weft.usage_sum TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.usage_sum TO weft_system USING (true);
-- A part of what is to be priced: the owner is a number as the reader likes.
CREATE TYPE weft.cost_part AS (owner bigint, rate_card_id smallint, cpu numeric, memory numeric, storage numeric, gpu numeric);

INSERT INTO weft.usage_sum
SELECT u.tenant_id, coalesce(u.project_id, 0), 0, coalesce(u.usage_on, '-infinity'), u.rate_card_id, sum(u.usage_ms::numeric * h.cpu_m),
    sum(u.usage_ms::numeric * h.memory_mib), sum(u.usage_ms::numeric * h.storage_mib), sum(u.usage_ms::numeric * h.gpu)
FROM weft.project_usage u JOIN weft.shape h USING (shape_id)
GROUP BY u.tenant_id, u.rate_card_id, GROUPING SETS ((u.project_id, u.usage_on), (u.usage_on), (u.project_id));
INSERT INTO weft.usage_sum
SELECT u.tenant_id, coalesce(u.project_id, 0), u.user_id, u.usage_on, u.rate_card_id, sum(u.usage_ms::numeric * h.cpu_m),
    sum(u.usage_ms::numeric * h.memory_mib), sum(u.usage_ms::numeric * h.storage_mib), sum(u.usage_ms::numeric * h.gpu)
FROM weft.user_usage u JOIN weft.shape h USING (shape_id)
GROUP BY u.tenant_id, u.user_id, u.usage_on, u.rate_card_id, GROUPING SETS ((u.project_id), ());
INSERT INTO weft.usage_sum
SELECT w.tenant_id, w.project_id, 2147483647, w.usage_on, w.rate_card_id, w.cpu - coalesce(k.cpu, 0), w.memory - coalesce(k.memory, 0),
    w.storage - coalesce(k.storage, 0), w.gpu - coalesce(k.gpu, 0)
FROM weft.usage_sum w LEFT JOIN (
    SELECT s.tenant_id, s.project_id, s.usage_on, s.rate_card_id, sum(s.cpu) AS cpu, sum(s.memory) AS memory, sum(s.storage) AS storage,
        sum(s.gpu) AS gpu
    FROM weft.usage_sum s WHERE s.user_id > 0 GROUP BY 1, 2, 3, 4) k USING (tenant_id, project_id, usage_on, rate_card_id)
WHERE w.user_id = 0 AND w.usage_on > '-infinity'
    AND (w.cpu, w.memory, w.storage, w.gpu) IS DISTINCT FROM (k.cpu, k.memory, k.storage, k.gpu);
-- Sums of recent dates are compared with what users used (_recount_usage): no other index of it leads to them.
CREATE INDEX user_usage_date_idx ON weft.user_usage (usage_on);
