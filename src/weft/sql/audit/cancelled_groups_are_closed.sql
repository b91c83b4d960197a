-- No jobs were added to a group after its cancel.
-- A batch that is being removed is incomplete.
SELECT j.batch_id, j.job_id, u.update_id, u.committed_at, c.group_id, c.cancelled_at
FROM weft.group_cancel c
JOIN weft.batch_update u ON u.batch_id = c.batch_id
    -- The commit is dated before it waits for a cancel that is under way, and the cancel before it waits for
    -- the commit.
    AND u.committed_at > c.cancelled_at + interval '1 second'
JOIN weft.job j ON j.batch_id = u.batch_id AND j.update_id = u.update_id
JOIN weft.group_ancestor n ON n.batch_id = j.batch_id
    AND n.group_id = j.group_id
    AND n.ancestor_id = c.group_id
