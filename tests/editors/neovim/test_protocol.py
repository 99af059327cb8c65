"""The names in protocol.lua are those of the protocol."""

import json
import subprocess

from nvim import PLUGIN

from conftest import ROOT, neovim


def test_the_client_knows_every_message_of_the_schema_and_no_other() -> None:
    schema = json.loads((ROOT / "editor-clients" / "protocol.schema.json").read_text(encoding="utf-8"))
    code = f"+lua io.stdout:write(vim.json.encode(dofile('{PLUGIN}/lua/agentls/protocol.lua')))"
    done = subprocess.run([neovim(), "--clean", "--headless", code, "+qa"], capture_output=True, text=True, check=True)
    known = json.loads(done.stdout)
    to_server = {name for name, row in schema["requests"].items() if row["direction"] == "toServer"}
    assert set(known["request"].values()) == to_server
    assert set(known["editor"].values()) == set(schema["requests"]) - to_server
    assert set(known["notification"].values()) == set(schema["notifications"])
    assert known["VERSION"] == schema["protocolVersion"]
