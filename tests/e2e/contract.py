"""What came over the wire, held against the table of messages."""

from typing import Any

from agentls.protocol.methods import NOTIFICATIONS, REQUESTS
from e2e.client import Client, Message

TOLD = {row.name: row for row in NOTIFICATIONS}
ANSWERED = {row.name: row for row in REQUESTS}


def hold_to_the_table(client: Client) -> int:
    """Every message of ours has its row's form: no member that the row does not know, none missing, none null.

    Returns how many there were.
    """
    count = 0
    for message in client.log:
        if "method" in message and "id" not in message and not of_lsp(message["method"]):
            fits(TOLD[message["method"]].params, message["params"], message)
            count += 1
        elif "result" in message and client.sent.get(message["id"]) in ANSWERED:
            fits(ANSWERED[client.sent[message["id"]]].result, message["result"], message)
            count += 1
    return count


def of_lsp(method: str) -> bool:
    return method.startswith(("$/", "window/", "textDocument/")) or method == "workspace/applyEdit"


def fits(model: Any, given: Any, message: Message) -> None:
    known = model.model_validate(given).members()
    assert_within(given, known, str(message)[:2_000])


def assert_within(given: Any, known: Any, where: str) -> None:
    assert given is not None, f"null on the wire: {where}"
    if isinstance(given, dict):
        assert isinstance(known, dict), where
        for name, value in given.items():
            assert name in known, f"the table does not know `{name}`: {where}"
            assert_within(value, known[name], where)
    elif isinstance(given, list):
        assert isinstance(known, list), where
        assert len(known) == len(given), where
        for one, other in zip(given, known, strict=True):
            assert_within(one, other, where)
    else:
        assert given == known, where
