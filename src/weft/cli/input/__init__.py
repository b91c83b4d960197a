"""What the user gives: options, targets, documents, standard input, job documents.

Nothing here prints results.
"""
