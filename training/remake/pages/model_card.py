"""The model card's figures: the table of training.evaluate, and what training.check_export says.

python -m training.remake.pages.model_card TREE figures|check PRINTED
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..evidence import fill
from ..present import present
from ..steps import TASKS


def main() -> None:
    """Fill the block."""
    tree, block, printed = sys.argv[1:]
    text = Path(printed).read_text(encoding="utf-8").strip()
    fill(Path(tree), "training/README.md", {block: f"```\n{text}\n```" if block == "check" else text}, present().named(*TASKS))


if __name__ == "__main__":
    main()
