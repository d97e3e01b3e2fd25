"""``python -m symgen``."""

from symgen.cli.main import main

main()
