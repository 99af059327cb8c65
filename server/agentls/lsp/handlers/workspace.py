"""The folder: trust, and its files."""

from agentls.app.app import App
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol import workspace as p
from agentls.schema.base import Raw


@handles(m.TRUST)
async def trust(caller: Caller[App], params: p.TrustParams) -> Raw:
    return await caller.app.trust(caller.folder(params.directory), trusted=params.trusted)


@handles(m.FIND)
async def find(caller: Caller[App], params: p.FindParams) -> Raw:
    return await caller.app.find_files(params.query, caller.folder(params.directory), params.limit)


HANDLERS = (trust, find)
