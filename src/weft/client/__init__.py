"""The Python client: talks to the HTTP api and to nothing else.

    http/        the server's address, connections, repeats, errors, one method per route, streams
    submission/  documents and builders on their way to the server
    api.py       both together: what the command line and the objects use
    answer.py    what the api says: money and dates as types
    card.py      a batch or a group as HTML for notebooks
    objects/     builders, batches, groups and jobs, asynchronous and waiting
    functions/   Python functions as jobs, `weft.Executor`
    aio.py, sync.py   what programs import

Each imports only what stands above it. Only `progress.py` and `waiting.py` print.
Nothing reads the database.
"""
