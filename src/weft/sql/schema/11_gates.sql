-- Gates: what a ready job must pass before it is offered to claimers. A gate counts places (max_running,
--   limits
-- of queues, concurrency keys, licences, quotas of cores), opens at a date, or both. The row is its lock:
--   whoever
-- admits jobs has it, and only with it n_taken changes.
CREATE TABLE weft.gate (
    gate_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    key text NOT NULL,  -- what it is for, unique within its kind
    batch_id bigint,  -- the batch with which it goes; NULL: it stays
    max_places int CHECK (max_places >= 0),  -- NULL: as many as want to
    opens_at timestamptz,  -- nobody passes before; NULL: it is open
    n_taken int NOT NULL DEFAULT 0,  -- places, and those given back of which notes tell
    limited_at timestamptz NOT NULL DEFAULT clock_timestamp(),  -- when max_places changed last
    max_ever int,  -- the most places that it ever had; NULL: it had no limit at some time
    CONSTRAINT gate_kind_key_key UNIQUE (kind, key)
) WITH (fillfactor = 50);
CREATE INDEX gate_batch_id_idx ON weft.gate (batch_id) WHERE batch_id IS NOT NULL;
-- Gates that open at a date: the driver sleeps until the first one.
CREATE INDEX gate_opens_at_idx ON weft.gate (opens_at) WHERE opens_at IS NOT NULL;
ROWS_OF_SYSTEM weft.gate;
INSERT INTO weft.gate (kind, key) VALUES ('switch', '');

-- Sets of gates, interned. 0: no gate, its jobs are offered. 1: closed switches, its jobs are parked until a
-- release lists them.
CREATE TABLE weft.gate_set (
    gate_set_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gate_ids int[] NOT NULL UNIQUE,  -- in order
    batch_id bigint  -- the batch with which one of its gates goes
);
CREATE INDEX gate_set_batch_id_idx ON weft.gate_set (batch_id) WHERE batch_id IS NOT NULL;
ROWS_OF_SYSTEM weft.gate_set;
INSERT INTO weft.gate_set (gate_set_id, gate_ids) OVERRIDING SYSTEM VALUE VALUES (0, '{}');
INSERT INTO weft.gate_set (gate_ids) SELECT ARRAY[g.gate_id] FROM weft.gate g;

CREATE TABLE weft.gate_member (
    gate_id int NOT NULL,
    gate_set_id int NOT NULL,
    batch_id bigint,
    -- How many places a job of the set takes. In gate_set.gate_ids a gate of which it takes several is
    -- followed by minus their number.
    cost int NOT NULL DEFAULT 1 CHECK (cost > 0),
    PRIMARY KEY (gate_id, gate_set_id)
);
CREATE INDEX gate_member_gate_set_id_idx ON weft.gate_member (gate_set_id, gate_id);
CREATE INDEX gate_member_batch_id_idx ON weft.gate_member (batch_id) WHERE batch_id IS NOT NULL;
ROWS_OF_SYSTEM weft.gate_member;

-- Something has happened at a gate: places were given back, or jobs came (0). Whoever has the gate next takes
-- its notes off.
CREATE TABLE weft.gate_note (
    note_id bigint GENERATED ALWAYS AS IDENTITY,
    gate_id int NOT NULL,
    n_freed int NOT NULL,
    -- A job that names a shared gate with another number of places leaves a note of it; whoever owns the
    -- gate's row next changes it.
    max_places int,
    PRIMARY KEY (gate_id, note_id)
);
ROWS_OF_SYSTEM weft.gate_note;

-- Places that come back at a date: those of starts, at gates that count them (_gate_kinds).
CREATE TABLE weft.gate_return (
    gate_id int NOT NULL,
    due_at timestamptz NOT NULL,
    n int NOT NULL CHECK (n > 0)
);
CREATE INDEX gate_return_due_at_idx ON weft.gate_return (due_at);
ROWS_OF_SYSTEM weft.gate_return;

-- Jobs of this shape that passed the gate were not claimed in this pool: others go first for a while.
CREATE TABLE weft.gate_pause (
    gate_id int NOT NULL,
    pool_id int NOT NULL,
    shape_id int NOT NULL,
    until_at timestamptz NOT NULL,
    PRIMARY KEY (gate_id, pool_id, shape_id)
);
ROWS_OF_SYSTEM weft.gate_pause;

-- A job that passed a gate, from then until it is claimed and has ended, or gives its place back.
CREATE TABLE weft.place (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    gate_id int NOT NULL,
    tenant_id int NOT NULL,
    admitted_at timestamptz NOT NULL,
    cost int NOT NULL DEFAULT 1 CHECK (cost > 0),
    PRIMARY KEY (batch_id, job_id, gate_id)
);
CREATE INDEX place_gate_id_idx ON weft.place (gate_id, admitted_at);

-- Licences: what all pools share, counted by gates (ADR 20). A job takes as many places of a gate as it needs
-- of the licence.
CREATE TABLE weft.licence (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
    n int NOT NULL CHECK (n >= 0),
    set_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    set_by text NOT NULL
);
ROWS_OF_SYSTEM weft.licence;
