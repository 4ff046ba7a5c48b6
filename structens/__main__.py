"""`python -m structens`."""

from structens.cli.main import main

if __name__ == "__main__":
    main()
