-- What was there before its owner was noted. Not where the columns were added: those tables are locked until their transaction ends.
UPDATE weft.operation o SET owner_id = b.user_id, project_id = b.project_id FROM weft.batch b WHERE b.batch_id = o.batch_id;
UPDATE weft.group_completion c SET owner_id = b.user_id, project_id = b.project_id FROM weft.batch b
WHERE b.batch_id = c.batch_id AND c.group_id = 0;
