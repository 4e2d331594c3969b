"""``python -m maxcode``."""

from maxcode.cli import main

if __name__ == "__main__":
    main()
