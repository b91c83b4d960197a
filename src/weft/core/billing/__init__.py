"""What was used and what it costs: resources, prices, limits of spending, reports."""
