"""Where a process starts: the script `everfind`, and `python -m everfind_gateway`."""

from __future__ import annotations

import gc
import os
import signal
import sys

GARBAGE = 50_000
"""Objects that may be made before a look for cycles among them: Python's own 700 cost a twentieth of cutting files into
chunks, which leaves hardly any."""


def main() -> int:
    """Run the command line."""
    gc.set_threshold(GARBAGE)
    # A Ctrl-C while modules load ends the process at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # pydantic looks for plugins in every installed package: 10 ms or more of each command, and we use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()  # loading makes little garbage, and looking for it took a tenth of a short command's time
    from everfind_gateway import cli
    from everfind_gateway.cli.runtime import stopping

    for number in stopping():
        signal.signal(number, signal.default_int_handler)
    code = cli.main()
    gc.freeze()  # the process ends: to collect what it leaves took a sixth of a short command's time
    return code


if __name__ == "__main__":
    sys.exit(main())
