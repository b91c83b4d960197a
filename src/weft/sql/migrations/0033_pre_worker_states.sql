-- What an operator says about a worker. It outlives the worker's processes; a claim reads the copy at the incarnation, whose row it needs
-- anyway.
ALTER TABLE weft.worker
    ADD COLUMN cordoned_at timestamptz,        -- it gets no new job
    ADD COLUMN cordoned_by text CHECK (length(cordoned_by) <= 300),
    ADD COLUMN cordon_reason text CHECK (length(cordon_reason) <= 1000),
    ADD COLUMN draining boolean NOT NULL DEFAULT false,  -- cordoned, and its process ends when nothing runs
    ADD COLUMN deleted_at timestamptz,         -- its process ended in order; NULL although none lives: it was lost
    ADD CONSTRAINT worker_draining_check CHECK (NOT draining OR cordoned_at IS NOT NULL);
ALTER TABLE weft.worker_incarnation ADD COLUMN cordoned boolean NOT NULL DEFAULT false;

CREATE TABLE weft.worker_change (
    worker_id int NOT NULL REFERENCES weft.worker ON DELETE CASCADE,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('active', 'cordoned', 'draining', 'deleted')),
    actor text NOT NULL,
    reason text,
    PRIMARY KEY (worker_id, change_id)
);

-- How the workers of the past ended is not known.
UPDATE weft.worker w SET deleted_at = (
    SELECT max(i.ended_at) FROM weft.worker_incarnation i WHERE i.worker_id = w.worker_id)
WHERE NOT EXISTS (SELECT FROM weft.worker_incarnation i WHERE i.worker_id = w.worker_id AND i.ended_at IS NULL);
