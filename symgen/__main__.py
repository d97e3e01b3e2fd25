"""``symgen`` and ``python -m symgen``."""

import gc
import sys
from typing import Final

UNCOLLECTED: Final = 500_000
"""New objects after which Python looks for those that only one another know. Tapes make many and
drop none in circles: at Python's 700 a tenth of the time goes into looking, at 50,000 a twentieth.
"""


def run() -> None:
    """The command line. Ctrl-C while it is still being loaded ends it as it does later."""
    gc.set_threshold(UNCOLLECTED)
    try:
        from symgen.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing has been left half written\n")
        sys.exit(128 + 2)
    finally:
        gc.freeze()  # Python looks through all objects again as it ends


if __name__ == "__main__":
    run()
