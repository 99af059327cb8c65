"""What there is to choose from, the settings, and the server's state."""

from agentls.lsp.facade import App
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol.catalog import InFolder
from agentls.protocol.params import NoParams
from agentls.schema.base import Raw


@handles(m.AGENTS)
async def agents(caller: Caller[App], _params: InFolder) -> Raw:
    return caller.app.catalog.agents()


@handles(m.MODELS)
async def models(caller: Caller[App], _params: InFolder) -> Raw:
    return caller.app.catalog.models()


@handles(m.TOOLS)
async def tools(caller: Caller[App], _params: InFolder) -> Raw:
    return caller.app.catalog.tools()


@handles(m.CONFIG)
async def config(caller: Caller[App], params: InFolder) -> Raw:
    return caller.app.config_view(caller.folder(params.directory))


@handles(m.STATUS)
async def status(caller: Caller[App], _params: NoParams) -> Raw:
    return caller.app.status()


HANDLERS = (agents, models, tools, config, status)
