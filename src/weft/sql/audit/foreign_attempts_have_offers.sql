-- What a foreign program runs became of an offer to one, which is its fence; and no worker of weft has what
--   was offered to such a program.
SELECT j.batch_id, j.job_id, j.attempt, i.name, o.offer_id
FROM weft.job j
JOIN weft.worker_incarnation i
USING (incarnation_id)
LEFT JOIN weft.transport_offer o ON o.batch_id = j.batch_id AND o.job_id = j.job_id AND o.attempt = j.attempt
WHERE j.state = STATE_RUNNING AND coalesce(i.offers ? 'foreign', false) <> (o.fence IS NOT NULL)
