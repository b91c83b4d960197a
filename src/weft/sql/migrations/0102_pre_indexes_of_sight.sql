-- Pages of who sees few of many batches: of their operations, and of batches in the order of their completions. Each source – own ones,
-- those of a project – has an index in that order.
CREATE INDEX operation_owner_idx ON weft.operation (owner_id, operation_id);
CREATE INDEX operation_project_idx ON weft.operation (project_id, operation_id);
-- Who asked for one sees it without a batch, too: one on many, or one that has removed it.
CREATE INDEX operation_user_idx ON weft.operation (user_id, operation_id) WHERE batch_id IS NULL OR kind = 'delete_batch';
CREATE INDEX operation_sight_idx ON weft.operation (batch_id, operation_id);
CREATE INDEX group_completion_owner_idx ON weft.group_completion (owner_id, completed_at, batch_id) WHERE group_id = 0;
CREATE INDEX group_completion_project_idx ON weft.group_completion (project_id, completed_at, batch_id) WHERE group_id = 0;
-- Last, as nobody reads the table from here on.
DROP INDEX weft.operation_batch_idx;
ALTER INDEX weft.operation_sight_idx RENAME TO operation_batch_idx;
