"""`python -m assay` is the program `assay`."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
