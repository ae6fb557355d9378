"""The command line: `everfind`. Its commands are in the modules of this package, one a subject."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import typer
from typer.main import get_command

from everfind_core.errors import EXIT_CODES, ErrorKind, EverfindError
from everfind_gateway.cli import completing
from everfind_gateway.cli.app import BRIEF, application, command_of
from everfind_gateway.cli.runtime import report_error, report_fault
from everfind_gateway.cli.usage import report_usage
from everfind_gateway.render.streams import OutputClosedError, note, prepare

INTERRUPTED = EXIT_CODES[ErrorKind.CANCELLED]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code. Every error is one line on stderr; docs/cli.md lists the codes."""
    prepare()
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        # Who completes a command line may be shown any command.
        only = "" if completing.VARIABLE in os.environ else command_of(given)
        if only not in BRIEF:
            gc.enable()
        code = get_command(application(only)).main(args=given, prog_name="everfind", standalone_mode=False)
    except OutputClosedError:
        return 0
    except EverfindError as error:
        return report_error(error)
    except typer.TyperException as error:
        return report_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:  # a fault of ours is one sentence, too
        return report_fault(error)
    if code == INTERRUPTED:
        note("everfind: interrupted")
    return code if isinstance(code, int) else 0
