-- What the previous release counted while the tables changed, once the functions that know all sums are installed. For one release.
-- Folds that began before have ended.
SELECT FROM weft.driver_state FOR UPDATE;
-- A batch that was removed has no owner.
UPDATE weft.operation o SET owner_id = NULL, project_id = NULL
WHERE o.owner_id IS NOT NULL AND NOT EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = o.batch_id);
SELECT weft._note_condition_batches();
SELECT weft._recount_users(), weft._recount_usage(((SELECT m.applied_at FROM weft.migration m
    WHERE m.name = '0096_pre_usage_sums') AT TIME ZONE 'UTC')::date - 1), weft._recount_shares();
