"""The settings: what can be set, and what holds when it is not."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, StrictBool, StrictStr

from agentls.schema.base import Value
from agentls.schema.model import ModelRef
from agentls.schema.permission import Rule


class Setting(Value):
    """Keys may be written in snake_case or camelCase. Unknown ones are kept apart, so that they can be warned about."""

    model_config = ConfigDict(extra="allow")


class AgentSettings(Setting):
    description: StrictStr | None = None
    mode: Literal["primary", "subagent", "all"] | None = None
    model: StrictStr | None = None
    variant: StrictStr | None = None
    temperature: float | None = None
    top_p: float | None = None
    prompt: StrictStr | None = None
    permission: tuple[Rule, ...] = ()
    steps: Annotated[int, Field(ge=1)] | None = Field(
        default=None, validation_alias=AliasChoices("steps", "maxSteps", "max_steps")
    )
    options: dict[str, Any] | None = None
    hidden: StrictBool | None = None
    disable: StrictBool | None = None
    color: StrictStr | None = None


class CommandSettings(Setting):
    template: StrictStr
    description: StrictStr | None = None
    agent: StrictStr | None = None
    model: StrictStr | None = None
    variant: StrictStr | None = None
    subtask: StrictBool | None = None


class McpSettings(Setting):
    """`local` ones have a `command`, `remote` ones a `url`. Times are in milliseconds."""

    type: Literal["local", "remote"] | None = None
    command: tuple[StrictStr, ...] | None = None
    cwd: StrictStr | None = None
    environment: dict[str, StrictStr] | None = Field(default=None, repr=False)
    url: StrictStr | None = None
    headers: dict[str, StrictStr] | None = Field(default=None, repr=False)
    oauth: Any = None
    enabled: StrictBool = True
    timeout: int | None = None


class ProviderOptions(Setting):
    """`timeout` is in milliseconds; `api_key_command` is run on first use and prints the key."""

    base_url: StrictStr | None = Field(default=None, validation_alias=AliasChoices("baseURL", "baseUrl", "base_url"))
    api_key: StrictStr | None = Field(default=None, repr=False)
    api_key_command: StrictStr | tuple[StrictStr, ...] | None = None
    headers: dict[str, StrictStr] = Field(default={}, repr=False)
    timeout: int | StrictBool | None = None
    ca_file: StrictStr | None = None


class LimitSettings(Setting):
    context: int | None = None
    input: int | None = None
    output: int | None = None


class ModelSettings(Setting):
    id: StrictStr | None = None
    name: StrictStr | None = None
    limit: LimitSettings = LimitSettings()
    cost: dict[str, Any] | None = None
    reasoning: StrictBool | None = None
    attachment: StrictBool | None = None
    tool_call: StrictBool | None = None
    temperature: StrictBool | None = None
    options: dict[str, Any] | None = None
    variants: dict[str, Any] | None = None


class ProviderSettings(Setting):
    name: StrictStr | None = None
    api: StrictStr | None = None
    options: ProviderOptions = ProviderOptions()
    models: dict[str, ModelSettings] = Field(default={})


class SkillSettings(Setting):
    paths: tuple[StrictStr, ...] = ()
    urls: tuple[StrictStr, ...] = ()


class CompactionSettings(Setting):
    auto: StrictBool = True
    prune: StrictBool = False
    tail_turns: int | None = None
    preserve_recent_tokens: int | None = None
    reserved: int | None = None


class ToolOutputSettings(Setting):
    max_lines: Annotated[int, Field(ge=1)] = 2000
    max_bytes: Annotated[int, Field(ge=1)] = 50 * 1024


class EditorSettings(Setting):
    """`follow`: a file that the agent edits is shown in an editor that has no client of ours."""

    follow: StrictBool = False


class ExperimentalSettings(Setting):
    continue_loop_on_deny: StrictBool = False


class Settings(Setting):
    """All settings as merged, but `permission`: rules stay apart by their origin (see `Loaded.layers`)."""

    model: StrictStr | None = None
    small_model: StrictStr | None = None
    default_agent: StrictStr | None = None
    agent: dict[str, AgentSettings] = Field(default={})
    command: dict[str, CommandSettings] = Field(default={})
    permission: tuple[Rule, ...] = ()
    mcp: dict[str, McpSettings] = Field(default={})
    provider: dict[str, ProviderSettings] = Field(default={})
    disabled_providers: tuple[StrictStr, ...] = ()
    enabled_providers: tuple[StrictStr, ...] | None = None
    instructions: tuple[StrictStr, ...] = ()
    skills: SkillSettings = SkillSettings()
    compaction: CompactionSettings = CompactionSettings()
    tool_output: ToolOutputSettings = ToolOutputSettings()
    snapshot: StrictBool = True
    shell: StrictStr | None = None
    username: StrictStr | None = None
    editor: EditorSettings = EditorSettings()
    subagent_depth: Annotated[int, Field(ge=0)] | None = None
    experimental: ExperimentalSettings = ExperimentalSettings()


def model_ref(text: str | None, variant: str | None = None) -> ModelRef | None:
    """The model that a setting names as `provider/model`; the model's own name may hold more slashes."""
    provider, slash, model = (text or "").partition("/")
    if not (slash and provider and model):
        return None
    return ModelRef(provider_id=provider, model_id=model, variant=variant)
