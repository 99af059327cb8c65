"""The SDKs of models are imported by threads, when they are used or shortly before."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from agentls.app.models import _imported


def test_a_module_that_another_thread_is_not_yet_done_with_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_sdk.py").write_text(
        "import slow_sdk_gate as gate\ngate.entered.set()\ngate.go.wait(20)\nNAME = 'whole'\n", encoding="utf-8"
    )
    entered, go = threading.Event(), threading.Event()
    gate = ModuleType("slow_sdk_gate")
    gate.__dict__.update(entered=entered, go=go)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "slow_sdk_gate", gate)
    try:
        with ThreadPoolExecutor() as pool:
            first = pool.submit(_imported, "slow_sdk")
            assert entered.wait(20)
            second = pool.submit(lambda: _imported("slow_sdk").NAME)
            threading.Timer(0.2, go.set).start()
            assert second.result(20) == "whole"
            assert first.result(20).NAME == "whole"
    finally:
        sys.modules.pop("slow_sdk", None)
