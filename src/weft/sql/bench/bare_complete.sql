-- bare_complete: the second of the bare queue's two updates.
UPDATE bare.queue SET state = 4 WHERE id = ANY ($1::bigint[]) AND state = 3
