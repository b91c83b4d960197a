"""The loops that decide for everybody: fold, settle, sweep what was cancelled, reap lost workers.

One file per loop: a decision that is pure and a thin shell of I/O. One leader at a time. Must not
poll: a loop is woken by a notification or by one timer.
"""
