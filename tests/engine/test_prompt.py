"""What a client names in a prompt, in the words that a model is given."""

import pytest

from agentls.engine.prompt import path_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file://localhost/a%20b.py", "/a b.py"),
        ("file:///a%3Fb%23c;d.py", "/a?b#c;d.py"),
        ("file:///%FF.py", "/\ufffd.py"),
        ("file://another.host/a.py", "file://another.host/a.py"),
        ("file:a.py", "file:a.py"),
        ("file:///a%00b", "file:///a%00b"),
        ("file://[x", "file://[x"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
        ("git:/a.py?ref", "git:/a.py?ref"),
    ],
)
def test_paths_are_those_of_files_of_this_machine(uri: str, path: str) -> None:
    assert path_of(uri) == path
