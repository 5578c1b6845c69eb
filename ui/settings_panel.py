"""The settings panel: what the person chooses for the turns to come, kept in the browser."""

from __future__ import annotations

import gradio as gr

from backend.contract.turn import TurnSettings
from backend.settings import Settings

LANGUAGES = [("Automatic", "auto"), ("English", "en"), ("Deutsch", "de"), ("Français", "fr"),
             ("Español", "es"), ("Italiano", "it"), ("Português", "pt"), ("中文", "zh"),
             ("日本語", "ja"), ("한국어", "ko"), ("Русский", "ru")]  # fmt: skip

STORAGE_KEY = "omni-live-settings"


def build_settings_panel(settings: Settings) -> list[gr.components.Component]:
    """Lay the panel out in the current Blocks; its controls in the order of ``Choices``."""
    defaults = TurnSettings()
    controls: list[gr.components.Component] = [
        gr.Textbox(
            defaults.system_prompt,
            label="Instructions to the assistant",
            lines=3,
            max_length=2000,
            elem_id="system-prompt",
        ),
        gr.Dropdown(LANGUAGES, value=defaults.language, label="Language spoken"),
        gr.Slider(
            16, 512, defaults.max_reply_tokens, step=16, label="Longest reply", info="In tokens."
        ),
        gr.Slider(
            1, 32, min(settings.max_frames, 32), step=1, label="Frames", info="Taken from a video."
        ),
        gr.Slider(
            0.5, 2.0, defaults.voice_speed, step=0.05, label="Voice speed", info="1 is normal."
        ),
    ]
    return controls


def remember(controls: list[gr.components.Component], page: gr.Blocks) -> None:
    """Keep the choices in the browser and bring them back when the page is loaded.

    Call it outside anything that folds: a folded BrowserState is not read.
    """
    panel_size = len(controls)
    # A fixed key, so that what a browser keeps can still be read after the app restarts.
    stored = gr.BrowserState(storage_key=STORAGE_KEY, secret="omni-live")  # noqa: S106

    def store(*values: object) -> list[object]:
        return list(values)

    def restore(values: list[object] | None) -> list[object]:
        if not values or len(values) != panel_size:
            return [gr.skip()] * panel_size
        return values

    page.load(restore, stored, controls, api_visibility="private")
    gr.on(
        [control.change for control in controls],
        store,
        controls,
        stored,
        show_progress="hidden",
        api_visibility="private",
    )
