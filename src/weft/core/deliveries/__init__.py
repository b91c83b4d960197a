"""Messages to others: addresses, signatures, and when a delivery is tried again."""
