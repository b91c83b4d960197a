-- Pages of who uses a pool: those with ready work stand in user_share_order_idx; here are those who only run jobs.
CREATE INDEX user_share_running_idx ON weft.user_share (pool_id, user_id) WHERE NOT active AND running_m > 0;
