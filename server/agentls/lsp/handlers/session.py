"""Sessions, their queues and parts."""

import anyio

from agentls.app.app import App
from agentls.engine.accepted import Accepted
from agentls.engine.export import Exports
from agentls.engine.prompt import PromptRequest
from agentls.engine.usershell import ShellRequest
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol import session as p
from agentls.protocol.params import Empty, OfSession
from agentls.schema.base import Raw


@handles(m.CREATE)
async def create(caller: Caller[App], params: p.CreateParams) -> p.CreateResult:
    session = caller.app.sessions.create(
        directory=caller.folder(params.directory),
        title=params.title,
        agent=params.agent,
        model=params.model,
        mode=params.mode,
    )
    caller.attach(session.id)
    caller.app.expect_prompt()
    return p.CreateResult(session=session, position=caller.app.sessions.position(session.id))


@handles(m.LIST)
async def list_page(caller: Caller[App], params: p.ListParams) -> Raw:
    return caller.app.sessions.list_page(
        directory=None if params.directory is None else caller.folder(params.directory),
        query=params.query,
        archived=params.archived,
        cursor=params.cursor,
        limit=params.limit,
    )


@handles(m.GET)
async def get(caller: Caller[App], params: OfSession) -> Raw:
    return caller.app.sessions.get(params.session_id)


@handles(m.MESSAGES)
async def messages(caller: Caller[App], params: p.MessagesParams) -> Raw:
    caller.flush(params.session_id)
    return caller.app.sessions.messages(params.session_id, params.before, params.limit)


@handles(m.ATTACH)
async def attach(caller: Caller[App], params: p.AttachParams) -> Raw:
    caller.flush(params.session_id)
    # Reading and subscribing are one step: nothing is published in between.
    result = caller.app.sessions.attach(params.session_id, params.since)
    caller.attach(params.session_id)
    caller.app.expect_prompt()
    return result


@handles(m.PROMPT)
async def prompt(caller: Caller[App], params: p.PromptParams) -> p.AcceptedResult:
    await caller.app.ready_for(params.session_id)
    accepted = caller.app.turns.prompt(
        PromptRequest(
            session_id=params.session_id,
            parts=params.parts,
            message_id=params.message_id,
            delivery=params.delivery,
            agent=params.agent,
            model=params.model,
            system=params.system,
            format=params.format,
            no_reply=params.no_reply,
        )
    )
    # Events are held until the answer: none is missed by subscribing now.
    caller.attach(params.session_id)
    caller.took(params.session_id, accepted.message_id, accepted.turn_id, params.work_done_token)
    result = _accepted(accepted)
    if params.wait == "accepted":
        return result
    return await _ended(caller, params.session_id, accepted, result)


async def _ended(
    caller: Caller[App], session_id: str, accepted: Accepted, result: p.AcceptedResult
) -> p.AcceptedResult:
    caller.step_aside()
    try:
        outcome = await accepted.outcome()
    except anyio.get_cancelled_exc_class():
        turn_id = accepted.turn_id or accepted.waiter.turn_id
        if accepted.began and turn_id is not None:
            with anyio.CancelScope(shield=True):
                await caller.app.turns.abort(session_id, turn_id, clear_queue=False)
        raise
    return result.but(
        turn_id=accepted.turn_id or accepted.waiter.turn_id,
        stop_reason=outcome.stop_reason,
        message=outcome.message,
        error=outcome.error,
        usage=outcome.usage,
    )


def _accepted(accepted: Accepted) -> p.AcceptedResult:
    return p.AcceptedResult(message_id=accepted.message_id, turn_id=accepted.turn_id, state=accepted.state)


@handles(m.CONTINUE)
async def resume(caller: Caller[App], params: OfSession) -> p.AcceptedResult:
    await caller.app.ready_for(params.session_id)
    accepted = caller.app.turns.resume(params.session_id)
    caller.attach(params.session_id)
    return _accepted(accepted)


@handles(m.ABORT)
async def abort(caller: Caller[App], params: p.AbortParams) -> p.AbortResult:
    caller.step_aside()
    await caller.app.prompts_ready(params.session_id)
    done = await caller.app.turns.abort(params.session_id, params.turn_id, clear_queue=params.queue == "clear")
    return p.AbortResult(aborted=done.aborted, turn_id=done.turn_id, forced=done.forced or None)


@handles(m.SHELL)
async def shell(caller: Caller[App], params: p.ShellParams) -> p.ShellResult:
    await caller.app.ready_for(params.session_id)
    accepted = caller.app.turns.shell(
        ShellRequest(
            session_id=params.session_id,
            command=params.command,
            cwd=params.cwd,
            message_id=params.message_id,
            timeout_ms=params.timeout_ms,
        )
    )
    caller.attach(params.session_id)
    caller.took(params.session_id, accepted.message_id, accepted.turn_id, None)
    return p.ShellResult(message_id=accepted.message_id, part_id=accepted.part_id, turn_id=accepted.turn_id)


@handles(m.UPDATE)
async def update(caller: Caller[App], params: p.UpdateParams) -> p.SessionResult:
    session = caller.app.sessions.update(
        params.session_id,
        title=params.title,
        archived=params.archived,
        agent=params.agent,
        model=params.model,
        mode=params.mode,
    )
    return p.SessionResult(session=session)


@handles(m.DELETE)
async def delete(caller: Caller[App], params: OfSession) -> Empty:
    await caller.app.sessions.delete(params.session_id)
    return Empty()


@handles(m.EXPORT)
async def export(caller: Caller[App], params: p.ExportParams) -> p.ExportResult:
    caller.flush(params.session_id)
    return p.ExportResult(text=await Exports(caller.app.sessions).text(params.session_id, params.format))


@handles(m.QUEUE_LIST)
async def queue_list(caller: Caller[App], params: OfSession) -> Raw:
    return caller.app.sessions.queue_list(params.session_id)


@handles(m.QUEUE_REMOVE)
async def queue_remove(caller: Caller[App], params: p.QueueRemoveParams) -> Raw:
    return caller.app.sessions.queue_remove(params.session_id, params.message_id)


@handles(m.PART_GET)
async def part(caller: Caller[App], params: p.PartParams) -> Raw:
    caller.flush(params.session_id)
    return caller.app.sessions.part(params.session_id, params.part_id)


HANDLERS = (
    create,
    list_page,
    get,
    messages,
    attach,
    prompt,
    resume,
    abort,
    shell,
    update,
    delete,
    export,
    queue_list,
    queue_remove,
    part,
)
