"""What there is to choose from, the settings, and the server's state."""

from agentls.app.app import App
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol.catalog import InFolder
from agentls.protocol.params import NoParams
from agentls.schema.base import Raw


@handles(m.AGENTS)
async def agents(caller: Caller[App], params: InFolder) -> Raw:
    return caller.app.choices.agents(caller.folder(params.directory))


@handles(m.MODELS)
async def models(caller: Caller[App], params: InFolder) -> Raw:
    return await caller.app.choices.models(caller.folder(params.directory))


@handles(m.TOOLS)
async def tools(caller: Caller[App], _params: InFolder) -> Raw:
    return caller.app.choices.tools()


@handles(m.CONFIG)
async def config(caller: Caller[App], params: InFolder) -> Raw:
    return caller.app.config_view(caller.folder(params.directory))


@handles(m.STATUS)
async def status(caller: Caller[App], _params: NoParams) -> Raw:
    return caller.app.status.view()


HANDLERS = (agents, models, tools, config, status)
