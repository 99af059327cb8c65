"""The table: every message of the protocol, once. Dispatch, schema, types and the reference page come from it."""

from typing import Any

from agentls.errors import ErrorKind as E
from agentls.protocol import catalog, events, permission, session, workspace
from agentls.protocol.params import Empty, NoParams, OfSession, OfSessionMaybe
from agentls.protocol.registry import Notification, Request

# sessions

CREATE = Request(
    "session/create",
    session.CreateParams,
    session.CreateResult,
    "Starts a session in a folder and attaches the caller.",
    (E.AGENT_NOT_FOUND, E.MODEL_NOT_FOUND, E.PATH_DENIED),
)
LIST = Request("session/list", session.ListParams, session.SessionsResult, "Sessions, those last used first.")
GET = Request("session/get", OfSession, session.GetResult, "A session and what goes on in it.", (E.SESSION_NOT_FOUND,))
MESSAGES = Request(
    "session/messages",
    session.MessagesParams,
    session.MessagesResult,
    "A page of messages: the newest, or those before a mark.",
    (E.SESSION_NOT_FOUND,),
)
ATTACH = Request(
    "session/attach",
    session.AttachParams,
    session.AttachResult,
    "Subscribes to a session and brings the caller's copy up to date.",
    (E.SESSION_NOT_FOUND,),
)
PROMPT = Request(
    "session/prompt",
    session.PromptParams,
    session.AcceptedResult,
    "Stores a message of the user's and starts, or steers, a turn. Attaches the caller.",
    (
        E.SESSION_NOT_FOUND,
        E.SESSION_BUSY,
        E.SESSION_LOCKED,
        E.CONFLICT,
        E.AGENT_NOT_FOUND,
        E.MODEL_NOT_FOUND,
        E.DRAINING,
    ),
)
ABORT = Request(
    "session/abort",
    session.AbortParams,
    session.AbortResult,
    "Stops what runs in a session; answered once it has stopped.",
    (E.SESSION_NOT_FOUND, E.SESSION_LOCKED, E.TURN_MISMATCH),
    urgent=True,
)
SHELL = Request(
    "session/shell",
    session.ShellParams,
    session.ShellResult,
    "Runs the user's own command in the session, without a model. Attaches the caller.",
    (E.SESSION_NOT_FOUND, E.SESSION_BUSY, E.SESSION_LOCKED, E.CONFLICT, E.PATH_DENIED),
)
CONTINUE = Request(
    "session/continue",
    OfSession,
    session.AcceptedResult,
    "Goes on where the last turn stopped, or with what is queued.",
    (E.SESSION_NOT_FOUND, E.SESSION_BUSY, E.SESSION_LOCKED),
)
COMMAND = Request(
    "session/command",
    session.CommandParams,
    session.AcceptedResult,
    "Fills in a command's template and prompts with it. Attaches the caller.",
    (E.SESSION_NOT_FOUND, E.SESSION_BUSY, E.SESSION_LOCKED, E.CONFLICT),
    served=False,
)
REVERT = Request(
    "session/revert",
    session.RevertParams,
    session.RevertResult,
    "Takes back what the turns from a message on did to files.",
    (E.SESSION_NOT_FOUND, E.MESSAGE_NOT_FOUND, E.PART_NOT_FOUND, E.SESSION_BUSY),
    served=False,
)
UNREVERT = Request(
    "session/unrevert",
    session.RevertParams,
    session.RevertResult,
    "Undoes a revert.",
    (E.SESSION_NOT_FOUND, E.SESSION_BUSY),
    served=False,
)
COMPACT = Request(
    "session/compact",
    session.FromMessageParams,
    session.TurnResult,
    "Replaces the older part of the conversation by a summary.",
    (E.SESSION_NOT_FOUND, E.SESSION_BUSY),
    served=False,
)
FORK = Request(
    "session/fork",
    session.FromMessageParams,
    session.SessionResult,
    "Copies the messages before a point into a new session.",
    (E.SESSION_NOT_FOUND, E.MESSAGE_NOT_FOUND),
    served=False,
)
UPDATE = Request(
    "session/update",
    session.UpdateParams,
    session.SessionResult,
    "Changes title, agent, model, mode, or archives.",
    (E.SESSION_NOT_FOUND, E.SESSION_LOCKED, E.AGENT_NOT_FOUND, E.MODEL_NOT_FOUND),
)
DELETE = Request(
    "session/delete",
    OfSession,
    Empty,
    "Stops and removes a session and its children; so it is if there is none.",
    (E.SESSION_LOCKED,),
)
CHILDREN = Request(
    "session/children",
    OfSession,
    session.SessionsResult,
    "The sessions of a session's subtasks.",
    (E.SESSION_NOT_FOUND,),
    served=False,
)
EXPORT = Request(
    "session/export",
    session.ExportParams,
    session.ExportResult,
    "The conversation as Markdown or JSON.",
    (E.SESSION_NOT_FOUND,),
)
DIFF = Request(
    "session/diff",
    session.FromMessageParams,
    session.DiffResult,
    "What a session, or one turn of it, changed in files.",
    (E.SESSION_NOT_FOUND, E.MESSAGE_NOT_FOUND),
    served=False,
)
TODO = Request(
    "session/todo",
    session.FromMessageParams,
    session.TodosResult,
    "The agent's list of things to do.",
    (E.SESSION_NOT_FOUND,),
    served=False,
)
QUEUE_LIST = Request(
    "queue/list", OfSession, session.QueueResult, "Prompts that wait for their turn.", (E.SESSION_NOT_FOUND,)
)
QUEUE_REMOVE = Request(
    "queue/remove",
    session.QueueRemoveParams,
    session.QueueResult,
    "Takes a prompt out of the queue.",
    (E.SESSION_NOT_FOUND, E.MESSAGE_NOT_FOUND, E.SESSION_LOCKED),
)
PART_GET = Request(
    "part/get",
    session.PartParams,
    session.PartResult,
    "One part as it is now.",
    (E.SESSION_NOT_FOUND, E.PART_NOT_FOUND),
)
TOOL_CANCEL = Request(
    "tool/cancel",
    session.PartParams,
    Empty,
    "Stops one running tool; the turn goes on.",
    (E.SESSION_NOT_FOUND, E.PART_NOT_FOUND),
    served=False,
)

# permissions and questions

PERMISSION_REPLY = Request(
    "permission/reply",
    permission.PermissionReplyParams,
    permission.PermissionReplyResult,
    "Answers a permission; the first reply counts.",
    (E.PERMISSION_NOT_FOUND, E.SESSION_LOCKED),
    urgent=True,
)
PERMISSION_LIST = Request(
    "permission/list", OfSessionMaybe, permission.PermissionsResult, "Permissions that wait for a reply."
)
PERMISSION_RULES = Request(
    "permission/rules", OfSessionMaybe, permission.RulesResult, 'Rules that an "always" left behind.'
)
PERMISSION_FORGET = Request(
    "permission/forget", permission.ForgetParams, permission.RulesResult, "Takes such a rule back; answers the rest."
)
QUESTION_REPLY = Request(
    "question/reply",
    permission.QuestionReplyParams,
    permission.QuestionReplyResult,
    "Answers a question; the first reply counts.",
    (E.QUESTION_NOT_FOUND, E.SESSION_LOCKED),
    urgent=True,
)
QUESTION_REJECT = Request(
    "question/reject",
    permission.QuestionRejectParams,
    permission.QuestionReplyResult,
    "Dismisses a question, which stops the turn.",
    (E.QUESTION_NOT_FOUND, E.SESSION_LOCKED),
    urgent=True,
)
QUESTION_LIST = Request(
    "question/list", OfSessionMaybe, permission.QuestionsResult, "Questions that wait for an answer."
)

# the folder and what there is

AGENTS = Request("agent/list", catalog.InFolder, catalog.AgentsResult, "Agents to choose from.")
MODELS = Request("model/list", catalog.InFolder, catalog.ModelsResult, "Models to choose from.")
TOOLS = Request("tool/list", catalog.InFolder, catalog.ToolsResult, "Tools that agents have.")
COMMANDS = Request("command/list", catalog.InFolder, catalog.CommandsResult, "Commands of the folder.", served=False)
SKILLS = Request("skill/list", catalog.InFolder, catalog.SkillsResult, "Skills of the folder.", served=False)
MCP = Request("mcp/status", catalog.InFolder, catalog.McpResult, "MCP servers and how they fare.", served=False)
CONFIG = Request("config/get", catalog.InFolder, catalog.ConfigResult, "The settings in force.")
STATUS = Request("server/status", NoParams, catalog.ServerStatus, "The server's version, state and problems.")
TRUST = Request(
    "workspace/trust",
    workspace.TrustParams,
    workspace.TrustResult,
    "Says whether the user trusts a folder.",
    (E.PATH_DENIED,),
)
FIND = Request(
    "file/find", workspace.FindParams, workspace.FindResult, "Files whose paths match, best first.", (E.PATH_DENIED,)
)

# to the editor, each only if the client said that it answers it

SAVE = Request(
    "document/save",
    workspace.SaveParams,
    workspace.SaveResult,
    "Asks the editor to save a document of that version.",
    direction="toClient",
)
DIAGNOSTICS = Request(
    "editor/diagnostics",
    workspace.DiagnosticsParams,
    workspace.DiagnosticsResult,
    "Asks for the diagnostics that the editor shows.",
    direction="toClient",
)
CONTEXT = Request(
    "editor/context",
    NoParams,
    workspace.ContextResult,
    "Asks what the user is looking at.",
    direction="toClient",
)

REQUESTS: tuple[Request[Any, Any], ...] = (
    CREATE,
    LIST,
    GET,
    MESSAGES,
    ATTACH,
    PROMPT,
    ABORT,
    SHELL,
    CONTINUE,
    COMMAND,
    REVERT,
    UNREVERT,
    COMPACT,
    FORK,
    UPDATE,
    DELETE,
    CHILDREN,
    EXPORT,
    DIFF,
    TODO,
    QUEUE_LIST,
    QUEUE_REMOVE,
    PART_GET,
    TOOL_CANCEL,
    PERMISSION_REPLY,
    PERMISSION_LIST,
    PERMISSION_RULES,
    PERMISSION_FORGET,
    QUESTION_REPLY,
    QUESTION_REJECT,
    QUESTION_LIST,
    AGENTS,
    MODELS,
    TOOLS,
    COMMANDS,
    SKILLS,
    MCP,
    CONFIG,
    STATUS,
    TRUST,
    FIND,
    SAVE,
    DIAGNOSTICS,
    CONTEXT,
)

SESSION_DIFF = Notification("session/diff", events.DiffChanged, "What the session changed in files.", served=False)

NOTIFICATIONS: tuple[Notification[Any], ...] = (
    Notification("session/created", events.SessionChanged, "A session is new."),
    Notification("session/updated", events.SessionChanged, "A session changed."),
    Notification("session/deleted", events.SessionChanged, "A session is gone; as it was at last."),
    Notification("session/status", events.StatusParams, "What a session is doing."),
    Notification("session/usage", events.UsageParams, "What the session used so far."),
    SESSION_DIFF,
    Notification("session/resync", events.ResyncParams, "The client was too slow; its copy has gaps."),
    Notification("turn/started", events.TurnStarted, "A turn began."),
    Notification("turn/ended", events.TurnEnded, "A turn ended, and why."),
    Notification("message/updated", events.MessageUpdated, "A message is new or changed."),
    Notification("message/removed", events.MessageRemoved, "A message and its parts are gone.", served=False),
    Notification("part/updated", events.PartUpdated, "A part is new or changed."),
    Notification("part/delta", events.PartDelta, "Text was appended to a part."),
    Notification("part/removed", events.PartRemoved, "A part is gone."),
    Notification("permission/asked", events.PermissionAsked, "A tool wants to do something and waits."),
    Notification("permission/resolved", events.PermissionSettled, "A permission is settled."),
    Notification("question/asked", events.QuestionAsked, "A tool asks the user something and waits."),
    Notification("question/resolved", events.QuestionSettled, "A question is settled."),
    Notification("todo/updated", events.TodoUpdated, "The agent's list of things to do changed."),
    Notification("queue/changed", events.QueueChanged, "Prompts were queued, taken or removed."),
    Notification("file/edited", events.FileEditedParams, "A tool changed a file."),
    Notification("notice", events.NoticeParams, "A word to the person."),
    Notification("server/status", events.ServerStatusChanged, "The server's problems changed.", served=False),
)
