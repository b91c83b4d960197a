-- Pages of who sees few of many batches: of their operations, and of batches in any order. Each source – own ones, those of a project – has
-- an index in that order.

-- Whose the batch is, noted with the row. NULL: it is on no batch, on a part of one, or on one whose rows are gone.
ALTER TABLE weft.operation ADD COLUMN owner_id int, ADD COLUMN project_id int;
ALTER TABLE weft.group_completion ADD COLUMN owner_id int, ADD COLUMN project_id int;

CREATE FUNCTION weft._note_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT b.user_id, b.project_id INTO NEW.owner_id, NEW.project_id FROM weft.batch b WHERE b.batch_id = NEW.batch_id;
    RETURN NEW;
END $$;
CREATE TRIGGER operation_begins BEFORE INSERT ON weft.operation FOR EACH ROW WHEN (NEW.batch_id IS NOT NULL)
    EXECUTE FUNCTION weft._note_owner();
CREATE TRIGGER batch_completes BEFORE INSERT ON weft.group_completion FOR EACH ROW WHEN (NEW.group_id = 0)
    EXECUTE FUNCTION weft._note_owner();
UPDATE weft.operation o SET owner_id = b.user_id, project_id = b.project_id FROM weft.batch b WHERE b.batch_id = o.batch_id;
UPDATE weft.group_completion c SET owner_id = b.user_id, project_id = b.project_id FROM weft.batch b
WHERE b.batch_id = c.batch_id AND c.group_id = 0;

CREATE INDEX operation_owner_idx ON weft.operation (owner_id, operation_id);
CREATE INDEX operation_project_idx ON weft.operation (project_id, operation_id);
DROP INDEX weft.operation_batch_idx;
CREATE INDEX operation_batch_idx ON weft.operation (batch_id, operation_id);
-- Who asked for one sees it without a batch, too: one on many, or one that has removed it.
CREATE INDEX operation_user_idx ON weft.operation (user_id, operation_id) WHERE batch_id IS NULL OR kind = 'delete_batch';

CREATE INDEX batch_user_name_idx ON weft.batch (user_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_project_name_idx ON weft.batch (project_id, name, batch_id) WHERE name IS NOT NULL;
CREATE INDEX batch_user_created_idx ON weft.batch (user_id, created_at, batch_id);
CREATE INDEX batch_project_created_idx ON weft.batch (project_id, created_at, batch_id);
CREATE INDEX group_completion_owner_idx ON weft.group_completion (owner_id, completed_at, batch_id) WHERE group_id = 0;
CREATE INDEX group_completion_project_idx ON weft.group_completion (project_id, completed_at, batch_id) WHERE group_id = 0;
