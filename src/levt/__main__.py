"""``python -m levt``: the command line."""

from levt.cli import main

if __name__ == "__main__":
    main()
