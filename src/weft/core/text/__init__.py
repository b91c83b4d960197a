"""What people write and what they are shown: amounts, durations, patterns, bounds of texts.

Nothing here knows a job or a tenant.
"""
