-- A group is complete when the last of its jobs has ended, not when a fold finds that out: deltas carry the latest end that they count.
ALTER TABLE weft.job_delta ADD COLUMN last_ended_at timestamptz;    -- NULL: it counts no end
ALTER TABLE weft.group_count ADD COLUMN last_ended_at timestamptz;  -- NULL: none of its jobs has ended, or only before this column was there
