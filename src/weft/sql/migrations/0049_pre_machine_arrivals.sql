-- How long machines take to come: `weft why` estimates by it when the next one comes.
ALTER TABLE weft.machine ADD COLUMN came_at timestamptz;  -- when its worker registered first; NULL: it has not, or came before this column
CREATE INDEX machine_came_idx ON weft.machine (pool_id, flavour, machine_id) WHERE came_at IS NOT NULL;
