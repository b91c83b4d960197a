-- Lists of batches in the order of their creation, and of their completion. That of names has an index already.
CREATE INDEX batch_created_idx ON weft.batch (tenant_id, created_at, batch_id);
CREATE INDEX group_completion_completed_idx ON weft.group_completion (tenant_id, completed_at, batch_id) WHERE group_id = 0;
