"""The settings panel: what the person chooses for the turns to come, kept in the browser."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from backend.contract.engine import Capabilities
from backend.contract.turn import TurnSettings
from backend.runtime.engine_thread import EngineThread
from backend.settings import Settings
from ui.choices import VoiceChoices
from ui.languages import LANGUAGES, language_choices
from ui.mount import mount
from ui.voice_panel import VoicePanel, build_voice_panel

STORAGE_KEY = "omni-live-settings"

LANGUAGE = 1
"""Place of the language among the general controls."""

NOTHING_YET = "nothing yet"
"""What a page shows of the engine before it has asked."""


@dataclass(frozen=True, slots=True)
class SettingsPanel:
    """The panel's components: those for every engine, and the voice part."""

    general: list[gr.components.Component]
    voice: VoicePanel

    @property
    def kept(self) -> list[gr.components.Component]:
        """What the browser keeps and Send reads, in the order of ``Choices.of``."""
        return [*self.general, *self.voice.kept]


def build_settings_panel(settings: Settings) -> SettingsPanel:
    """Lay the panel out in the current Blocks."""
    if settings.may_switch and len(settings.pipelines) > 1:
        mount("mountModel", "model-host")
    defaults = TurnSettings()
    general: list[gr.components.Component] = [
        gr.Textbox(
            defaults.system_prompt,
            label="Instructions to the assistant",
            lines=3,
            max_length=2000,
            elem_id="system-prompt",
        ),
        gr.Dropdown(_understood(None), value=defaults.language, label="Language spoken"),
        gr.Slider(
            16, 512, defaults.max_reply_tokens, step=16, label="Longest reply", info="In tokens."
        ),
        gr.Slider(1, 64, settings.max_frames, step=1, label="Frames", info="Taken from a video."),
    ]
    return SettingsPanel(general, build_voice_panel())


def remember(panel: SettingsPanel, status: gr.HTML, engine: EngineThread) -> None:
    """Keep the choices in the browser and bring them back, as far as the engine knows them.

    Call it outside anything that folds: a folded BrowserState is not read.

    Args:
        panel: What holds the choices.
        status: Its ``change`` says that the page has learned of a new state of the engine.
        engine: Whose capabilities decide what there is to choose.
    """
    # A fixed key, so that what a browser keeps can still be read after the app restarts.
    kept = gr.BrowserState(storage_key=STORAGE_KEY, secret="omni-live")  # noqa: S106
    shown = gr.State(NOTHING_YET)
    general, voice = panel.general, panel.voice

    def restore(values: list[object] | None, shown_now: object) -> dict[object, object]:
        known = engine.status.capabilities
        if known == shown_now:
            return gr.skip()
        whole = values and len(values) == len(panel.kept)
        first, rest = (values[: len(general)], values[len(general) :]) if whole else ([], [])
        changes: dict[object, object] = {shown: known}
        if shown_now == NOTHING_YET:  # later on the person may be typing
            changes |= dict(zip(general, first, strict=False))
        languages = _understood(known)
        language = first[LANGUAGE] if first else "auto"
        if language not in dict(languages).values():
            language = "auto"
        changes[general[LANGUAGE]] = gr.Dropdown(languages, value=language)
        return changes | voice.show(VoiceChoices(*rest), known.voice if known else None)

    status.change(
        restore,
        [kept, shown],
        [*general, *voice.outputs, shown],
        trigger_mode="always_last",
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    gr.on(
        [control.change for control in panel.kept],
        None,
        panel.kept,
        kept,
        js="(...values) => [values]",
        show_progress="hidden",
        api_visibility="private",
    )


def _understood(engine: Capabilities | None) -> list[tuple[str, str]]:
    """The languages to choose from: those that the engine understands, once it is known."""
    known = {"auto", *engine.languages} if engine else set(LANGUAGES)
    return language_choices(known & set(LANGUAGES))
