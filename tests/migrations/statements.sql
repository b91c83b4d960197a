-- What the statements below need.
CREATE TABLE weft.pear (id int PRIMARY KEY, stem int, queue int REFERENCES weft.queue,
    CONSTRAINT fruit CHECK (stem > 0) NOT VALID);
CREATE TABLE weft.fig (id int);
CREATE FUNCTION weft.grow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER pear_grows BEFORE UPDATE ON weft.pear FOR EACH ROW EXECUTE FUNCTION weft.grow();

-- Each of these is tried alone, and rolled back: a line each.
ALTER TABLE weft.queue ADD COLUMN colour text;
ALTER TABLE weft.queue ADD COLUMN colour text NOT NULL DEFAULT 'red', ADD COLUMN x int;
ALTER TABLE weft.queue ADD COLUMN at timestamptz DEFAULT now();
ALTER TABLE weft.queue ADD COLUMN at timestamptz DEFAULT clock_timestamp();
ALTER TABLE weft.queue ADD COLUMN colour text GENERATED ALWAYS AS (lower(name)) STORED;
ALTER TABLE weft.queue ADD COLUMN n bigserial;
ALTER TABLE weft.queue ADD COLUMN n int CHECK (n > 0);
ALTER TABLE weft.queue ADD COLUMN user_id int REFERENCES weft.tenant_user;
ALTER TABLE weft.queue ADD CONSTRAINT c FOREIGN KEY (tenant_id) REFERENCES weft.tenant NOT VALID;
ALTER TABLE weft.queue ADD CONSTRAINT c FOREIGN KEY (tenant_id) REFERENCES weft.tenant;
ALTER TABLE weft.queue ADD CONSTRAINT c CHECK (name <> ';') NOT VALID;
ALTER TABLE weft.queue ADD CHECK (name <> 'it''s; -- one');
ALTER TABLE weft.queue ADD UNIQUE (queue_id, name);
ALTER TABLE weft.pear ALTER COLUMN stem TYPE bigint, ALTER COLUMN id SET DATA TYPE bigint;
ALTER TABLE weft.queue ALTER COLUMN name DROP NOT NULL;
ALTER TABLE weft.queue ALTER COLUMN name SET NOT NULL;
ALTER TABLE weft.queue ALTER COLUMN name SET DEFAULT 'x';
ALTER TABLE weft.queue ALTER COLUMN name SET STATISTICS 5;
ALTER TABLE weft.queue ALTER COLUMN name SET STORAGE EXTERNAL;
ALTER TABLE weft.queue SET (fillfactor = 50);
ALTER TABLE weft.queue DISABLE TRIGGER USER;
ALTER TABLE weft.queue RENAME COLUMN name TO title;
ALTER TABLE weft.queue RENAME TO line;
ALTER TABLE weft.queue OWNER TO weft_tenant;
ALTER TABLE weft.queue FORCE ROW LEVEL SECURITY;
ALTER TABLE weft.pear VALIDATE CONSTRAINT fruit;
ALTER TABLE weft.pear DROP COLUMN queue;
ALTER TABLE weft.pear DROP COLUMN stem;
ALTER TABLE weft.pear DROP CONSTRAINT pear_queue_fkey;
ALTER TABLE weft.pear DROP CONSTRAINT fruit;
DROP TABLE weft.pear;
DROP TABLE IF EXISTS weft.apple;
ALTER INDEX weft.pear_pkey RENAME TO pear_key;
DROP INDEX weft.pool_serves_idx;
CREATE UNIQUE INDEX ON weft.queue (queue_id, name);
CREATE TABLE weft.apple (id int REFERENCES weft.queue);
CREATE TRIGGER t BEFORE UPDATE OF name ON weft.queue FOR EACH ROW EXECUTE FUNCTION weft.grow();
DROP TRIGGER pear_grows ON weft.pear;
CREATE POLICY p ON weft.queue USING (EXISTS (SELECT FROM weft.job));
COMMENT ON TABLE weft.queue IS 'x';
COMMENT ON COLUMN weft.queue.name IS 'x';
ALTER VIEW weft_views.jobs OWNER TO weft_views;
DROP VIEW weft_views.minutes;
GRANT SELECT ON weft.queue TO weft_views;
REVOKE SELECT ON weft.queue FROM weft_views;
INSERT INTO weft.pear (id) VALUES (1);
UPDATE weft.pear SET stem = 1;
DELETE FROM weft.pear p USING weft.queue q WHERE q.queue_id = p.id;
WITH gone AS (DELETE FROM weft.pear RETURNING id) INSERT INTO weft.fig SELECT id FROM gone;
CREATE FUNCTION weft.f() RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 2';
DROP FUNCTION weft._check_batch;
CREATE TYPE weft.t AS (a int);

-- Tables, views and indexes: of which table, and in which file.
SELECT c.oid, format('%s.%s', n.nspname, c.relname) AS name,
    format('%s.%s', n.nspname, t.relname) AS table_name, pg_relation_filenode(c.oid) AS file
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_class t ON t.oid = coalesce(i.indrelid, c.oid)
WHERE n.nspname IN ('weft', 'weft_views') AND t.relkind IN ('r', 'v');

-- What this session has locked.
SELECT relation, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL;
