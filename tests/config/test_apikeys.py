"""Keys that commands print."""

import pytest

from agentls.config.apikeys import ApiKeys
from agentls.errors import AgentError, ErrorKind


async def test_a_key_is_printed_once_and_remembered(tmp_path):
    keys = ApiKeys()
    command = f"echo ran >> {tmp_path}/ran; echo ' k3y '"
    assert await keys.key("p", command) == "k3y"
    assert await keys.key("p", command) == "k3y"
    assert (tmp_path / "ran").read_text() == "ran\n"
    keys.forget()
    assert await keys.key("p", ("/bin/echo", "other")) == "other"


@pytest.mark.parametrize(
    "command",
    ["echo s3cret; exit 3", "true", "echo s3cret; echo b", "yes s3cret", ("/does/not/exist",), "echo s3cret; sleep 60"],
)
async def test_a_failure_says_what_to_do_and_shows_no_output(command):
    with pytest.raises(AgentError) as caught:
        await ApiKeys(seconds=1).key("p", command)
    assert caught.value.kind == ErrorKind.AUTH_REQUIRED
    assert "s3cret" not in str(caught.value)
    assert "apiKeyCommand" in str(caught.value)
