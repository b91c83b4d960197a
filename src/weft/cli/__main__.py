"""`python -m weft.cli`: the command line where the script `weft` is not on the path."""

from weft.cli.app import main

if __name__ == "__main__":
    main()
