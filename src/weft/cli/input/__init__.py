"""Input from the user: options, targets, documents, standard input, commands.

Nothing here prints results.
"""
