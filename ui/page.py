"""The page: transcript, status strip, call, composer and settings, wired together."""

from __future__ import annotations

import gradio as gr
from gradio.events import Dependency

from backend.contract.errors import Field
from backend.conversation.registry import SessionRegistry
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from ui.composer import Composer, build_composer
from ui.handlers import Sender
from ui.live_panel import build_live_panel, follow_choices
from ui.mount import mount
from ui.settings_panel import SettingsPanel, build_settings_panel, remember

KEEP_UPLOADS_S = (600, 3600)
"""How often uploads are swept, and the age in seconds at which they go."""


def build_page(registry: SessionRegistry, engine: EngineThread, settings: Settings) -> gr.Blocks:
    """The whole page as Gradio Blocks, ready to be mounted."""
    with gr.Blocks(
        title="Omni Live", fill_height=True, analytics_enabled=False, delete_cache=KEEP_UPLOADS_S
    ) as page:
        with gr.Row(elem_id="masthead"):
            gr.HTML("<h1>Omni Live</h1>", elem_id="title", js_on_load=None)
            fresh = gr.Button("New conversation", size="sm", elem_id="new-conversation", scale=0)
        mount("mountTranscript", "transcript-host")
        status = mount("mountStatus", "status-host", "() => trigger('change')")
        live = build_live_panel()
        composer = build_composer()
        with gr.Accordion("Settings", open=False, elem_id="settings") as fold:
            panel = build_settings_panel(settings)
        with gr.Accordion("Voice lab", open=False, elem_id="voice-lab"):
            mount("mountLab", "lab-host")
        with gr.Accordion("Tasks", open=False, elem_id="tasks"):
            mount("mountTasks", "tasks-host")
        composer.errors[Field.VOICE] = panel.voice.error
        sender = _sender(registry, engine, settings, composer)
        _wire(composer, panel, fold, fresh, sender)
        _unfold(follow_choices(live, panel, composer, sender), panel, fold)
        remember(panel, status, engine)
    return page


def _sender(
    registry: SessionRegistry, engine: EngineThread, settings: Settings, composer: Composer
) -> Sender:
    return Sender(
        registry,
        engine,
        MediaLimits.from_settings(settings),
        list(composer.errors),
        max_text_chars=settings.max_text_chars,
    )


def _wire(
    composer: Composer,
    panel: SettingsPanel,
    fold: gr.Accordion,
    fresh: gr.Button,
    sender: Sender,
) -> None:
    in_browser = {"fn": None, "inputs": None, "outputs": None, "api_visibility": "private"}
    emptied = gr.on(
        [composer.send.click, composer.text.submit],
        sender.send,
        [composer.session, *composer.boxes, *panel.kept],
        composer.error_lines,
        js="(...inputs) => window.omni ? window.omni.composer.fill(inputs) : inputs",
        trigger_mode="once",
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    ).success(
        fn=None,
        inputs=[*composer.boxes, *composer.error_lines],
        outputs=composer.boxes,
        js="(...values) => window.omni?.composer.clear(values)",
        show_progress="hidden",
        api_visibility="private",
    )
    _unfold(emptied, panel, fold)
    composer.talk.click(js="() => window.omni?.talk.press()", **in_browser)
    composer.stop.click(js="() => window.omni?.stop()", **in_browser)
    fresh.click(js="() => window.omni?.clear()", **in_browser)


def _unfold(checked: Dependency, panel: SettingsPanel, fold: gr.Accordion) -> None:
    """Show the voice part when its choices were refused."""
    checked.success(
        fn=None,
        inputs=panel.voice.error,
        outputs=fold,
        js="(words) => window.omni?.composer.unfold(words)",
        show_progress="hidden",
        api_visibility="private",
    )
