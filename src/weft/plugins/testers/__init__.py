"""How to find out that a condition is over: implementations of `ports/tester.py`."""
