"""``python -m symgen``."""

from symgen.cli import main

main()
