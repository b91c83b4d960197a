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
