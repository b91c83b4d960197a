"""Tab in bash, zsh and fish: a short script for each, which asks `weft --complete` at each Tab.

`command_words.json` holds the words of all commands; `make reference` writes it. So a Tab imports
no command, and neither does a shell that starts. `cursor.py` finds where on the line the cursor
is, `live_words.py` asks the server for names, `answer.py` prints what a script reads.
It must never print what a shell would run, nor an error: nobody asked for one.
"""
