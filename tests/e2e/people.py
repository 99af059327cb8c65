"""What people are owed: words that tell, and a session that goes on."""

from e2e.model import Script, says
from e2e.talk import Talk


async def usable(talk: Talk, model: Script) -> None:
    model.plays(says("I am here."))
    result = await talk.prompt("Still there?", wait="idle")
    assert result["stopReason"] == "done", result
    assert (await talk.texts())[-1] == "I am here."


def is_for_people(message: str) -> None:
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    assert len(message) < 600
