-- Sums of what other sums hold by user or queue, so that a page reads one row however many users and queues there are:
-- in user_count of a billing project (as user 0), and of a tenant (as user 0, in project 0); in queue_count of `default`, which was what
-- the others left over. They come after the functions, which know them (catalog/recount.sql): those of the previous release would add them
-- up with the others.
-- What jobs use of each pool: the sum of user_share.running_m.
CREATE TABLE weft.pool_load (
    pool_id int PRIMARY KEY,
    running_m bigint NOT NULL
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.pool_load TO weft_system;
