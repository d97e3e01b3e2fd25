"""``symgen`` and ``python -m symgen``."""

import gc
import sys
from typing import Final

GC_THRESHOLD: Final = 2_000_000
"""The number of new objects after which the garbage collector runs. Tapes allocate many objects
without reference cycles: with Python's default of 700, a tenth of the time is spent in the
collector; with 50,000, a twentieth; with 500,000, a sixtieth."""


def run() -> None:
    """Run the command line. Ctrl-C while it is being imported has the same effect as later."""
    gc.set_threshold(GC_THRESHOLD)
    try:
        from symgen.cli.main import main

        main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted; no incomplete file was left\n")
        sys.exit(128 + 2)
    finally:
        gc.freeze()  # Python looks through all objects again as it ends


if __name__ == "__main__":
    run()
