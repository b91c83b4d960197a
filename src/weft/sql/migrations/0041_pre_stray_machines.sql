-- Machines that their provider has although nobody noted them.
ALTER TABLE weft.machine ADD COLUMN strayed_at timestamptz;  -- since when such a machine is known; NULL: weft had it made
