"""`python -m agentls`."""

from agentls.cli import main

main()
