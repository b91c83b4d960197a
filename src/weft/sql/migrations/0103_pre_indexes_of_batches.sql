-- The same for pages of batches in the order of their names, or in that of their creation.
CREATE INDEX batch_user_name_idx ON weft.batch (user_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_project_name_idx ON weft.batch (project_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_user_created_idx ON weft.batch (user_id, created_at, batch_id);
CREATE INDEX batch_project_created_idx ON weft.batch (project_id, created_at, batch_id);
