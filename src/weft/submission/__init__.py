"""Submission: a document becomes rows and a batch, whoever sends it.

Routes, doors and schedules submit through these functions of services, caller, document and
origin. They know no HTTP: no encoding of answers.
"""
