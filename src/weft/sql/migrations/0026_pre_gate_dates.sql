-- Gates that open at a date: the driver sleeps until the first one.
CREATE INDEX gate_opens_at_idx ON weft.gate (opens_at) WHERE opens_at IS NOT NULL;
