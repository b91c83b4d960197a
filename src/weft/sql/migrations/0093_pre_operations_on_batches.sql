-- Operations on batches that a query finds: they belong to no batch, and may be cancelled.
ALTER TABLE weft.operation ALTER COLUMN batch_id DROP NOT NULL;  -- NULL: it is on batches of its user
ALTER TABLE weft.operation DROP CONSTRAINT operation_state_check;
ALTER TABLE weft.operation ADD CONSTRAINT operation_state_check CHECK (state IN ('running', 'success', 'failed', 'cancelled'));
-- They are removed some time after their end; those on a batch go with it.
CREATE INDEX operation_on_batches_idx ON weft.operation (ended_at) WHERE batch_id IS NULL AND ended_at IS NOT NULL;
