-- Whose work a cancel ends, so that the sweep can serve each user in turn.
ALTER TABLE weft.group_cancel ADD COLUMN user_id int;
UPDATE weft.group_cancel c SET user_id = b.user_id FROM weft.batch b WHERE b.batch_id = c.batch_id;
ALTER TABLE weft.group_cancel ALTER COLUMN user_id SET NOT NULL;
CREATE INDEX group_cancel_user_idx ON weft.group_cancel (user_id, cancelled_at) WHERE NOT swept;
