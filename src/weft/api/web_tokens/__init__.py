"""JSON web tokens of other issuers: which are believed, by which keys, whom they name."""
