"""The full screen of `weft top`: lists, what their keys do, and the terminal while it is shown.

`state.py` holds what is on the screen and changes it by keys; it does no I/O. `lists.py` and
`actions.py` ask the server, `drawing.py` draws, `program.py` runs it all.
"""
