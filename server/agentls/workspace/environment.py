"""The environment that commands run in: no secrets, no terminal, nobody to ask."""

from collections.abc import Collection, Mapping

from agentls.config.protected import names_secret

INSTANCE_MARK = "AGENTLS_INSTANCE"
CALL_MARK = "AGENTLS_CALL"
# What a shell would run first, and where it would go instead of where a command says.
_START_UP = ("BASH_ENV", "ENV", "PROMPT_COMMAND", "CDPATH")
_NOBODY_THERE = {
    "CI": "1",
    "TERM": "dumb",
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "PIP_NO_INPUT": "1",
}


def child_environment(
    own: Mapping[str, str], *, instance: str, call: str, keep: Collection[str] = ()
) -> dict[str, str]:
    """The server's environment without secrets; those in `keep` are passed on by name."""
    passed = {name: value for name, value in own.items() if name in keep or not _withheld(name)}
    return {**passed, **_NOBODY_THERE, INSTANCE_MARK: instance, CALL_MARK: call}


def _withheld(name: str) -> bool:
    return name.upper() in _START_UP or names_secret(name)
