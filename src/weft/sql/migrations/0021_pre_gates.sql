-- Gates: what a ready job must pass before it is offered to claimers. A gate counts places (max_running; later limits of queues,
--   concurrency
-- keys, licences), opens at a date, or both. The row is its lock: whoever admits jobs has it, and only with it n_taken changes.
CREATE TABLE weft.gate (
    gate_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    key text NOT NULL,                         -- what it is for, unique within its kind
    batch_id bigint,                           -- the batch with which it goes; NULL: it stays
    max_places int CHECK (max_places >= 0),    -- NULL: as many as want to
    opens_at timestamptz,                      -- nobody passes before; NULL: it is open
    n_taken int NOT NULL DEFAULT 0,            -- places, and those given back of which notes tell
    limited_at timestamptz NOT NULL DEFAULT clock_timestamp(),  -- when max_places changed last
    CONSTRAINT gate_kind_key_key UNIQUE (kind, key)
) WITH (fillfactor = 50);
CREATE INDEX gate_batch_id_idx ON weft.gate (batch_id) WHERE batch_id IS NOT NULL;

-- Sets of gates, interned. 0: no gate, its jobs are offered. 1: closed switches, its jobs are parked until a release lists them.
CREATE TABLE weft.gate_set (
    gate_set_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gate_ids int[] NOT NULL UNIQUE,            -- in order
    batch_id bigint                            -- the batch with which one of its gates goes
);
CREATE INDEX gate_set_batch_id_idx ON weft.gate_set (batch_id) WHERE batch_id IS NOT NULL;
CREATE TABLE weft.gate_member (
    gate_id int NOT NULL,
    gate_set_id int NOT NULL,
    batch_id bigint,
    PRIMARY KEY (gate_id, gate_set_id)
);
CREATE INDEX gate_member_gate_set_id_idx ON weft.gate_member (gate_set_id, gate_id);
CREATE INDEX gate_member_batch_id_idx ON weft.gate_member (batch_id) WHERE batch_id IS NOT NULL;

INSERT INTO weft.gate (kind, key) VALUES ('switch', '');
INSERT INTO weft.gate_set (gate_set_id, gate_ids) OVERRIDING SYSTEM VALUE VALUES (0, '{}');
INSERT INTO weft.gate_set (gate_ids) SELECT ARRAY[g.gate_id] FROM weft.gate g;

-- A job that passed a gate, from then until it is claimed and has ended, or gives its place back.
CREATE TABLE weft.place (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    gate_id int NOT NULL,
    tenant_id int NOT NULL,
    admitted_at timestamptz NOT NULL,
    PRIMARY KEY (batch_id, job_id, gate_id)
);
CREATE INDEX place_gate_id_idx ON weft.place (gate_id, admitted_at);

-- Something has happened at a gate: places were given back, or jobs came (0). Whoever has the gate next takes its notes off.
CREATE TABLE weft.gate_note (
    note_id bigint GENERATED ALWAYS AS IDENTITY,
    gate_id int NOT NULL,
    n_freed int NOT NULL,
    PRIMARY KEY (gate_id, note_id)
);

-- Jobs of this shape that passed the gate were not claimed in this pool: others go first for a while.
CREATE TABLE weft.gate_pause (
    gate_id int NOT NULL,
    pool_id int NOT NULL,
    shape_id int NOT NULL,
    until_at timestamptz NOT NULL,
    PRIMARY KEY (gate_id, pool_id, shape_id)
);

ALTER TABLE weft.batch ADD COLUMN gate_set_id int NOT NULL DEFAULT 0;   -- of all its jobs
ALTER TABLE weft.batch ADD COLUMN gated boolean NOT NULL DEFAULT false; -- it, or a job of it, has gates
ALTER TABLE weft.job ADD COLUMN gate_set_id int;                        -- its own, beside those of its batch; NULL: none
ALTER TABLE weft.runnable ADD COLUMN gate_set_id int NOT NULL DEFAULT 0;
ALTER TABLE weft.ready_job ADD COLUMN gate_set_id int NOT NULL DEFAULT 0;

-- What was parked under the negative number of its pool.
UPDATE weft.runnable r SET pool_id = -r.pool_id, gate_set_id = 1 WHERE r.pool_id < 0;
UPDATE weft.ready_job q SET pool_id = -q.pool_id, gate_set_id = 1 WHERE q.pool_id < 0;

-- Batches with max_running get their gate; what runs has its place, and the driver admits what waits.
WITH gates AS (
    INSERT INTO weft.gate (kind, key, batch_id, max_places)
    SELECT 'max_running', b.batch_id::text, b.batch_id, b.max_running FROM weft.batch b WHERE b.max_running IS NOT NULL ORDER BY b.batch_id
    RETURNING gate_id, batch_id),
sets AS (INSERT INTO weft.gate_set (gate_ids, batch_id) SELECT ARRAY[g.gate_id], g.batch_id
    FROM gates g RETURNING gate_set_id, gate_ids, batch_id),
members AS (INSERT INTO weft.gate_member (gate_id, gate_set_id, batch_id) SELECT s.gate_ids[1], s.gate_set_id, s.batch_id FROM sets s),
notes AS (INSERT INTO weft.gate_note (gate_id, n_freed) SELECT g.gate_id, 0 FROM gates g)
UPDATE weft.batch b SET gate_set_id = s.gate_set_id, gated = true FROM sets s WHERE b.batch_id = s.batch_id;
UPDATE weft.runnable r SET gate_set_id = b.gate_set_id FROM weft.batch b WHERE b.batch_id = r.batch_id AND b.gated AND r.gate_set_id = 0;
UPDATE weft.ready_job q SET gate_set_id = b.gate_set_id FROM weft.batch b WHERE b.batch_id = q.batch_id AND b.gated AND q.gate_set_id = 0;
INSERT INTO weft.place (batch_id, job_id, gate_id, tenant_id, admitted_at)
SELECT DISTINCT j.batch_id, j.job_id, m.gate_id, j.tenant_id, j.claimed_at
FROM weft.claim c CROSS JOIN unnest(c.jobs) x JOIN weft.gate_member m ON m.batch_id = c.batch_id
JOIN weft.job j ON j.batch_id = c.batch_id AND j.job_id = x AND j.state = 4;
UPDATE weft.gate g SET n_taken = (SELECT count(*) FROM weft.place p WHERE p.gate_id = g.gate_id) WHERE g.batch_id IS NOT NULL;

DROP INDEX weft.runnable_order_idx;
CREATE UNIQUE INDEX runnable_order_idx ON weft.runnable (gate_set_id, pool_id, user_id, batch_id, first_job);
ALTER TABLE weft.ready_job DROP CONSTRAINT ready_job_pkey;
ALTER TABLE weft.ready_job ADD PRIMARY KEY (gate_set_id, pool_id, user_id, rank, batch_id, job_id);
-- A job waits once, whatever its gates.
DROP INDEX weft.ready_job_batch_idx;
CREATE UNIQUE INDEX ready_job_batch_idx ON weft.ready_job (batch_id, job_id);

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['gate', 'gate_set', 'gate_member', 'gate_note', 'gate_pause', 'place'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
    CREATE POLICY tenant_rows ON weft.place TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
END $$;
