"""Providers that need no settings: hosted ones by the key in the environment, local ones by their usual port."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hosted:
    """`variables` may each hold the key; `model` is the one to begin with."""

    name: str
    label: str
    base_url: str
    variables: tuple[str, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Local:
    name: str
    label: str
    base_url: str


HOSTED = (
    Hosted("openai", "OpenAI", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-4.1"),
    Hosted(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        "anthropic/claude-sonnet-4",
    ),
    Hosted("groq", "Groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "openai/gpt-oss-120b"),
    Hosted("mistral", "Mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "mistral-large-latest"),
    Hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), "deepseek-chat"),
    Hosted(
        "together",
        "Together AI",
        "https://api.together.xyz/v1",
        ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY"),
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ),
    Hosted("xai", "xAI", "https://api.x.ai/v1", ("XAI_API_KEY",), "grok-code-fast-1"),
    Hosted(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-2.5-flash",
    ),
    Hosted("cerebras", "Cerebras", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",), "gpt-oss-120b"),
)

LOCAL = (
    Local("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    Local("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"),
    Local("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    Local("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
)
