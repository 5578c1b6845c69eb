"""The voice part of the settings: shows what the engine can do, and says what it cannot."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from backend.contract.voice import VoiceControls, VoiceMode
from ui.choices import VoiceChoices
from ui.composer import error_line
from ui.languages import language_choices
from ui.voice_words import missing, reference_label

MODES = [("A voice of the model", VoiceMode.NAMED), ("Copy a voice", VoiceMode.CLONE)]

NOT_KNOWN = VoiceControls(modes=())
"""What an engine that has never been ready can do."""


@dataclass(frozen=True, slots=True)
class VoicePanel:
    """The voice part's components.

    Attributes:
        own: Holds what concerns the voices of the model.
        copied: Holds what concerns a voice to copy.
        note: The line that says what the engine cannot do.
        error: The line that says what is wrong.
    """

    mode: gr.Radio
    own: gr.Column
    speaker: gr.Dropdown
    copied: gr.Column
    reference: gr.Audio
    reference_text: gr.Textbox
    x_vector_only: gr.Checkbox
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
        return [
            self.mode,
            self.speaker,
            self.language,
            self.style,
            self.reference_text,
            self.x_vector_only,
            self.pass_token_ids,
            self.speed,
        ]

    @property
    def outputs(self) -> list[gr.blocks.Block]:
        """What ``show`` changes."""
        parts = [self.own, self.copied, self.reference, self.counter, self.advanced, self.note]
        return [*self.kept, *parts]

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
        own, copied = sides(chosen.mode if controls else "")
        languages = language_choices(can.languages)
        return {
            self.mode: gr.Radio(value=chosen.mode, visible=len(can.modes) > 1),
            self.speaker: gr.Dropdown(
                can.speakers, value=chosen.speaker, visible=len(can.speakers) > 1
            ),
            self.language: gr.Dropdown(
                languages, value=chosen.language, visible=len(can.languages) > 1
            ),
            self.style: gr.Textbox(style, visible=can.style_chars > 0),
            self.reference_text: chosen.reference_text,
            self.x_vector_only: chosen.x_vector_only,
            self.pass_token_ids: chosen.pass_token_ids,
            self.speed: gr.Slider(value=chosen.speed, visible=can.changes_speed),
            self.own: own,
            self.copied: copied,
            self.reference: gr.Audio(label=reference_label(can.reference_s)),
            self.counter: gr.HTML(len(style), limit=can.style_chars, visible=can.style_chars > 0),
            self.advanced: gr.Accordion(visible=can.takes_token_ids),
            self.note: missing(controls),
        }


def build_voice_panel() -> VoicePanel:
    """Lay the voice part out in the current Blocks; everything is hidden until ``show``."""
    with gr.Column(elem_id="voice"):
        gr.HTML("<h2>Voice</h2>", js_on_load=None)
        note = gr.HTML(
            missing(None),
            html_template="{{#if value}}<p>{{value}}</p>{{/if}}",
            js_on_load=None,
            elem_id="voice-note",
        )
        error = error_line()
        mode = gr.Radio(MODES, value=VoiceMode.NAMED, label="Whose voice", visible=False)
        with gr.Column(visible=False) as own:
            speaker = _list("Speaker", "")
        with gr.Column(visible=False) as copied:
            reference = gr.Audio(
                sources=["upload", "microphone"],
                type="filepath",
                label=reference_label((0, 0)),
                editable=False,
                buttons=[],
                elem_id="reference",
            )
            reference_text = gr.Textbox(
                label="Words spoken in it", lines=2, elem_id="reference-text"
            )
            x_vector_only = gr.Checkbox(label="Copy the sound of the voice only (no words needed)")
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
    mode.change(
        sides, mode, [own, copied], queue=False, show_progress="hidden", api_visibility="private"
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
        mode, own, speaker, copied, reference, reference_text, x_vector_only, language, style,
        counter, speed, advanced, pass_token_ids, note, error,
    )  # fmt: skip


def sides(mode: str) -> tuple[gr.Column, gr.Column]:
    """The side of the voice part that a mode needs is shown, the other is not."""
    return gr.Column(visible=mode == VoiceMode.NAMED), gr.Column(visible=mode == VoiceMode.CLONE)


def _list(label: str, value: str) -> gr.Dropdown:
    """A list whose entries the engine gives later on.

    Gradio refuses an event, Send included, that carries a value not on the server's list, which
    happens while the page has not yet shown the new one. ``Choices`` judges it instead.
    """
    dropdown = gr.Dropdown(value=value, label=label, allow_custom_value=True, visible=False)
    dropdown.filterable = False  # which keeps people from typing a value of their own
    return dropdown
