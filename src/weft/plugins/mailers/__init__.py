"""How mail to subscribers leaves: implementations of `ports/mailer.py`; they keep nothing."""
