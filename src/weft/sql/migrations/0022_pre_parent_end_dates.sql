-- When the noted parents ended: a child is dated after the latest of them, also if the clock was set back meanwhile.
ALTER TABLE weft.parent_end ADD COLUMN at timestamptz;  -- NULL: noted by the previous release
