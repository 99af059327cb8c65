"""Paths that are asked for in every mode: an edit of one and a command that names one are told alike."""

from pathlib import PurePath

import pytest

from agentls.config.protected import is_protected, names_protected, names_secret

PATHS = [
    ".git/hooks/pre-commit", ".git/config", ".GIT/hooks/x", "sub/.git/hooks/x", ".git", ".gitmodules",
    ".gitattributes", ".vscode/tasks.json", "pkg/.idea/x.xml", ".cursor/rules", ".bashrc", ".zshenv", ".envrc",
    ".mcp.json", "agentls.json", "sub/agentls.jsonc", ".agentls/agent/x.md", "opencode.json", ".npmrc", "pip.conf",
    ".claude/skills/x/SKILL.md", ".config/fish/x", ".cargo/config.toml", ".exrc", ".nvim.lua", ".dir-locals.el",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("form", ["{}", "/p/{}", "--to={}", "a:{}"])
def test_a_command_that_names_a_protected_path_is_known_by_it(path: str, form: str) -> None:
    assert is_protected(PurePath(path))
    assert names_protected(form.format(path))


@pytest.mark.parametrize("word", ["src/a.py", "git", ".github/x.yml", ".gitignore", "skills/x", "config.toml", "-o.x"])
def test_common_words_name_nothing_protected(word: str) -> None:
    assert not is_protected(PurePath(word))
    assert not names_protected(word)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "apiKey", "GH_TOKEN", "DB_PASSWD", "PGPASSWORD", "AWS_CREDENTIALS"])
def test_names_of_secrets_are_known_in_any_spelling(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", ["PATH", "HOME", "SSH_AUTH_SOCK", "LANG", "baseUrl"])
def test_other_names_hold_no_secret(name: str) -> None:
    assert not names_secret(name)
