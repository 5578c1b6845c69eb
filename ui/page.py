"""The page: transcript, status strip, composer and settings, wired together."""

from __future__ import annotations

import gradio as gr

from backend.conversation.registry import SessionRegistry
from backend.media.limits import MediaLimits
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from ui.composer import Composer, build_composer
from ui.handlers import Sender
from ui.settings_panel import build_settings_panel, remember

MODULE = "import(new URL('omni/page.js', document.baseURI))"
"""The page's script; the browser loads it once, however many parts ask for it."""

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
        _mount("mountTranscript", "transcript-host")
        _mount("mountStatus", "status-host")
        composer = build_composer()
        with gr.Accordion("Settings", open=False, elem_id="settings"):
            controls = build_settings_panel(settings)
        _wire(composer, controls, fresh, _sender(registry, settings, composer))
        remember(controls, page, engine)
    return page


def _mount(function: str, elem_id: str) -> None:
    script = f"{MODULE}.then((page) => page.{function}(element.querySelector('.mount')))"
    gr.HTML(
        "<div class='mount'></div>", js_on_load=script, elem_id=elem_id, apply_default_css=False
    )


def _sender(registry: SessionRegistry, settings: Settings, composer: Composer) -> Sender:
    limits = MediaLimits.from_settings(settings)
    return Sender(registry, limits, list(composer.errors), max_text_chars=settings.max_text_chars)


def _wire(
    composer: Composer,
    controls: list[gr.components.Component],
    fresh: gr.Button,
    sender: Sender,
) -> None:
    in_browser = {"fn": None, "inputs": None, "outputs": None, "api_visibility": "private"}
    gr.on(
        [composer.send.click, composer.text.submit],
        sender.send,
        [*composer.inputs, *controls],
        composer.outputs,
        js="(...inputs) => window.omni ? window.omni.composer.fill(inputs) : inputs",
        trigger_mode="once",
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    composer.talk.click(js="() => window.omni?.talk.press()", **in_browser)
    composer.stop.click(js="() => window.omni?.stop()", **in_browser)
    fresh.click(js="() => window.omni?.clear()", **in_browser)
