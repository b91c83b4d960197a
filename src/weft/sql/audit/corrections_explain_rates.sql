-- Each price that was corrected is what its last correction made it.
SELECT x.rate_card_id, x.key AS resource, x.value AS corrected, r.price_per_unit_hour AS price
FROM (
    SELECT DISTINCT ON (c.rate_card_id, n.key) c.rate_card_id, n.key, n.value
    FROM weft.rate_correction c
    CROSS JOIN LATERAL jsonb_each_text(c.new) n
    ORDER BY c.rate_card_id, n.key, c.correction_id DESC
) x
JOIN weft.resource s ON s.name = x.key
JOIN weft.rate r ON r.rate_card_id = x.rate_card_id AND r.resource_id = s.resource_id
WHERE r.price_per_unit_hour <> x.value::numeric
