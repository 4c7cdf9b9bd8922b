"""`python -m modelpicker`."""

from modelpicker.cli import main

if __name__ == "__main__":
    main()
