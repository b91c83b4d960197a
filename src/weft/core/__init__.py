"""Pure decisions: states, ids, units, errors, and every rule that its arguments alone decide.

Owns the words of weft and what follows from them. Must not do I/O, know the time, draw random
numbers or be async: time, randomness and ids come in as arguments. Imports nothing else of weft.
"""
