"""Retry what failed: jobs in place, with what depends on them (`retry_jobs`).

Nothing is here yet. Every door finds it here when it comes, in the form of `cancel.py`.
"""
