"""How an attempt ended, what that means, and what comes next: a retry, a condition, or nothing."""
