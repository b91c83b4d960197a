-- Old entries of the trail can be removed: the chain then begins after the last one that is gone.
ALTER TABLE weft.trail_head
    ADD COLUMN removed_number bigint NOT NULL DEFAULT 0,  -- 0: nothing was removed
    ADD COLUMN removed_digest bytea NOT NULL DEFAULT '';
GRANT DELETE ON weft.trail_entry TO weft_system;  -- what trim_trail removes
