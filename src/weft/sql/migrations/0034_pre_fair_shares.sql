-- What each user's ready jobs ask for: a claim shares its cpu among users by load and by this.
ALTER TABLE weft.user_share ADD COLUMN ready_m bigint DEFAULT 0 NOT NULL;
UPDATE weft.user_share s SET ready_m = x.ready_m
FROM (SELECT c.pool_id, c.user_id, sum(c.ready_m) AS ready_m FROM weft.user_batch_count c GROUP BY 1, 2) x
WHERE x.pool_id = s.pool_id AND x.user_id = s.user_id;

-- The users that a claim serves first, in order: the mCPU that each and those before it may get, and about how many jobs its own part is.
CREATE TYPE weft.shares AS (user_ids int[], upto_m bigint[], jobs int[]);
-- What is left of the user's share, and about how many jobs it was.
ALTER TYPE weft.offer ADD ATTRIBUTE share_m bigint, ADD ATTRIBUTE share_jobs int;
