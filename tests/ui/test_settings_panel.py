"""What the settings bring back of what a browser kept."""

from __future__ import annotations

import gradio as gr
import pytest

from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls
from backend.settings import Settings
from tests.scripted_engine import ScriptedEngine
from ui.settings_panel import NOTHING_YET, build_settings_panel, remember

VOICE = VoiceControls(speakers=("Vivian", "Ryan"), languages=("auto", "de"), style_chars=500)
KEPT = ["Be brief.", "en", 64, 4, "Ryan", "de", "warm", False, 1.0]
OF_AN_OLDER_PAGE = [*KEPT[:4], "clone", "Ryan", "de", "warm", "words", True, False, 2.0]


@pytest.fixture
async def restored(start, until):
    """Bring choices back; returns how the controls are then."""
    engine = start(ScriptedEngine(voice=VOICE))
    await until(lambda: engine.status.state == "ready")
    with gr.Blocks() as page:
        panel = build_settings_panel(Settings(_env_file=None))
        remember(panel, gr.HTML(), engine)
    restore = next(event.fn for event in page.fns.values() if event.name == "restore")

    def bring_back(kept):
        changes = restore(kept, NOTHING_YET)
        shown = [changes.get(control, control) for control in panel.kept]
        return [getattr(control, "value", control) for control in shown]

    return bring_back


def test_what_the_browser_kept_is_brought_back(restored):
    assert restored(KEPT) == KEPT


@pytest.mark.parametrize("kept", [None, OF_AN_OLDER_PAGE])
def test_what_an_older_page_kept_leaves_the_defaults(restored, kept):
    assert restored(kept)[0] == TurnSettings().system_prompt
    assert restored(kept)[4:] == ["Vivian", "auto", "", False, 1.0]
