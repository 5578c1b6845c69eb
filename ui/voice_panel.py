"""The voice part of the settings: shows what the engine can do, and says what it cannot."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from backend.contract.voice import VoiceControls
from ui.choices import VoiceChoices
from ui.composer import error_line
from ui.languages import language_choices
from ui.mount import mount
from ui.voice_words import about

NOT_KNOWN = VoiceControls(modes=())
"""What an engine that has never been ready can do."""


@dataclass(frozen=True, slots=True)
class VoicePanel:
    """The voice part's components.

    Attributes:
        note: The line that says what the engine cannot do, and how a voice is copied.
        error: The line that says what is wrong.
    """

    speaker: gr.Dropdown
    language: gr.Dropdown
    style: gr.Textbox
    counter: gr.HTML
    speed: gr.Slider
    advanced: gr.Accordion
    pass_token_ids: gr.Checkbox
    note: gr.HTML
    error: gr.HTML

    @property
    def kept(self) -> list[gr.components.Component]:
        """What the browser keeps, in the order of ``VoiceChoices``."""
        return [self.speaker, self.language, self.style, self.pass_token_ids, self.speed]

    @property
    def outputs(self) -> list[gr.blocks.Block]:
        """What ``show`` changes."""
        return [*self.kept, self.counter, self.advanced, self.note]

    def show(
        self, kept: VoiceChoices, controls: VoiceControls | None
    ) -> dict[gr.blocks.Block, object]:
        """The changes that bring the choices back as far as the engine knows them.

        Args:
            kept: What the browser kept.
            controls: What the engine can do; none while it has never been ready.
        """
        can = controls or NOT_KNOWN
        chosen = kept.known_to(can) if controls else kept
        style = chosen.style if controls is None or len(chosen.style) <= can.style_chars else ""
        languages = language_choices(can.languages)
        return {
            self.speaker: gr.Dropdown(
                can.speakers, value=chosen.speaker, visible=len(can.speakers) > 1
            ),
            self.language: gr.Dropdown(
                languages, value=chosen.language, visible=len(can.languages) > 1
            ),
            self.style: gr.Textbox(style, visible=can.style_chars > 0),
            self.pass_token_ids: chosen.pass_token_ids,
            self.speed: gr.Slider(value=chosen.speed, visible=can.changes_speed),
            self.counter: gr.HTML(len(style), limit=can.style_chars, visible=can.style_chars > 0),
            self.advanced: gr.Accordion(visible=can.takes_token_ids),
            self.note: about(controls),
        }


def build_voice_panel() -> VoicePanel:
    """Lay the voice part out in the current Blocks; everything is hidden until ``show``."""
    with gr.Column(elem_id="voice"):
        gr.HTML("<h2>Voice</h2>", js_on_load=None)
        note = gr.HTML(
            about(None),
            html_template="{{#if value}}<p>{{value}}</p>{{/if}}",
            js_on_load=None,
            elem_id="voice-note",
        )
        error = error_line()
        mount("mountUsedVoice", "used-voice-host")
        speaker = _list("Speaker", "")
        language = _list("Language to speak", "auto")
        style = gr.Textbox(
            label="Style",
            info="How to speak, in words, such as: warm and slow.",
            lines=2,
            visible=False,
            elem_id="voice-style",
        )
        counter = gr.HTML(
            0,
            limit=0,
            html_template="<p class=\"${value > limit ? 'over' : ''}\">"
            "${value} of ${limit} characters</p>",
            js_on_load=None,
            visible=False,
            elem_id="style-counter",
        )
        speed = gr.Slider(
            0.5, 2.0, 1.0, step=0.05, label="Voice speed", info="1 is normal.", visible=False
        )
        with gr.Accordion("Advanced", open=False, visible=False, elem_id="advanced") as advanced:
            pass_token_ids = gr.Checkbox(
                label="Hand over tokens instead of text",
                info="The voice gets the reply as the model's own tokens.",
            )
    style.change(
        None,
        style,
        counter,
        js="(text) => [...(text ?? '')].length",
        show_progress="hidden",
        api_visibility="private",
    )
    return VoicePanel(
        speaker, language, style, counter, speed, advanced, pass_token_ids, note, error
    )


def _list(label: str, value: str) -> gr.Dropdown:
    """A list whose entries the engine gives later on.

    Gradio refuses an event, Send included, that carries a value not on the server's list, which
    happens while the page has not yet shown the new one. ``Choices`` judges it instead.
    """
    dropdown = gr.Dropdown(value=value, label=label, allow_custom_value=True, visible=False)
    dropdown.filterable = False  # which keeps people from typing a value of their own
    return dropdown
