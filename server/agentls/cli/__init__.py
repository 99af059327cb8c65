"""Commands of the program; the only place that prints."""

import sys


def main() -> None:
    """`agentls` serves an editor over stdio; with a command it does that.

    Serving goes the short way: an editor waits for it.
    """
    arguments = sys.argv[1:]
    if [argument for argument in arguments if argument != "--stdio"]:
        from agentls.cli.commands import commands

        commands()
        return
    if sys.stdin.isatty():
        from agentls.cli.commands import hint

        hint()
        return
    from agentls.cli.serve import serve

    sys.exit(serve())
