"""How mail leaves: implementations of `ports/mailer.py`."""
