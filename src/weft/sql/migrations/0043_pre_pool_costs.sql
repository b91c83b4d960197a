-- What the machines of pools cost, and how much of them jobs used.
ALTER TABLE weft.machine
    ADD COLUMN costs_from timestamptz,  -- until then its costs are in pool_cost; NULL: none are
    ADD COLUMN used_share double precision NOT NULL DEFAULT 0
        CONSTRAINT machine_used_share_check CHECK (used_share BETWEEN 0 AND 1);  -- that jobs use since then

CREATE TABLE weft.pool_cost (
    pool_id int NOT NULL REFERENCES weft.pool ON DELETE CASCADE,
    spent_on date NOT NULL,             -- UTC
    flavour text NOT NULL,
    machine_us bigint NOT NULL,         -- how long its machines existed, in microseconds
    used_us double precision NOT NULL,  -- the part that jobs used
    cost numeric NOT NULL,
    used_cost numeric NOT NULL,
    PRIMARY KEY (pool_id, spent_on, flavour)
);
ALTER TABLE weft.pool_cost ENABLE ROW LEVEL SECURITY;
CREATE POLICY system_rows ON weft.pool_cost TO weft_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.pool_cost TO weft_system;
