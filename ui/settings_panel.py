"""The settings panel: what the person chooses for the turns to come, kept in the browser."""

from __future__ import annotations

import gradio as gr

from backend.contract.engine import Capabilities
from backend.contract.turn import TurnSettings
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings

LANGUAGES = {
    "auto": "Automatic",
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "pt": "Português",
    "zh": "中文",
    "ja": "日本語",
    "ko": "한국어",
    "ru": "Русский",
}

STORAGE_KEY = "omni-live-settings"

LANGUAGE = 1
"""Place of the language among the controls."""


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
        gr.Dropdown(_choices(None), value=defaults.language, label="Language spoken"),
        gr.Slider(
            16, 512, defaults.max_reply_tokens, step=16, label="Longest reply", info="In tokens."
        ),
        gr.Slider(1, 64, settings.max_frames, step=1, label="Frames", info="Taken from a video."),
        gr.Slider(
            0.5, 2.0, defaults.voice_speed, step=0.05, label="Voice speed", info="1 is normal."
        ),
    ]
    return controls


def remember(
    controls: list[gr.components.Component], page: gr.Blocks, engine: EngineThread
) -> None:
    """Keep the choices in the browser and bring them back, as far as the engine knows them.

    Call it outside anything that folds: a folded BrowserState is not read.
    """
    # A fixed key, so that what a browser keeps can still be read after the app restarts.
    stored = gr.BrowserState(storage_key=STORAGE_KEY, secret="omni-live")  # noqa: S106

    def store(*values: object) -> list[object]:
        return list(values)

    def restore(values: list[object] | None) -> list[object]:
        fresh = not values or len(values) != len(controls)
        restored = [gr.skip()] * len(controls) if fresh else list(values or [])
        choices = _choices(engine.status.capabilities)
        known = {code for _, code in choices}
        language = "auto" if fresh or restored[LANGUAGE] not in known else restored[LANGUAGE]
        restored[LANGUAGE] = gr.Dropdown(choices, value=language)
        return restored

    page.load(restore, stored, controls, show_progress="hidden", api_visibility="private")
    gr.on(
        [control.change for control in controls],
        store,
        controls,
        stored,
        show_progress="hidden",
        api_visibility="private",
    )


def _choices(engine: Capabilities | None) -> list[tuple[str, str]]:
    """The languages to choose from: those that the engine understands, once it is known."""
    known = {"auto", *engine.languages} if engine else set(LANGUAGES)
    return [(name, code) for code, name in LANGUAGES.items() if code in known]
