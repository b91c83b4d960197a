-- Licences: what all pools share, counted by gates (ADR 36). A job takes as many places of a gate as it needs of the licence.
CREATE TABLE weft.licence (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
    n int NOT NULL CHECK (n >= 0),
    set_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    set_by text NOT NULL
);
ALTER TABLE weft.licence ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.licence TO weft_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.licence TO weft_system;
-- How many places a job of the set takes. In gate_set.gate_ids a gate stands as often as that.
ALTER TABLE weft.gate_member ADD COLUMN cost int NOT NULL DEFAULT 1 CHECK (cost > 0);
ALTER TABLE weft.place ADD COLUMN cost int NOT NULL DEFAULT 1 CHECK (cost > 0);
