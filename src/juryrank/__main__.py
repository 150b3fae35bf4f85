"""``python -m juryrank`` is the command line."""

from juryrank.cli import main

if __name__ == "__main__":
    main()
