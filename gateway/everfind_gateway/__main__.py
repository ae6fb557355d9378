"""`python -m everfind_gateway` is `everfind`."""

import sys

from everfind_gateway.cli import main

sys.exit(main())
