"""A program of its own: ends all that a dead server left behind. Its argument is the server's instance id."""

import sys

from agentls.workspace.environment import INSTANCE_MARK
from agentls.workspace.tree import Mark, end


def main() -> None:
    end(Mark(INSTANCE_MARK, sys.argv[1]))


if __name__ == "__main__":
    main()
