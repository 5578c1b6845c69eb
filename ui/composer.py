"""The composer: text, microphone, camera or video, picture, and the buttons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from backend.contract.errors import Field

SAMPLES = Path(__file__).parent.parent / "assets"


@dataclass(frozen=True, slots=True)
class Composer:
    """The composer's components.

    Attributes:
        session: Filled in by the page's script with the id of the tab's conversation.
        errors: Per field, the line beside it that says what is wrong.
    """

    session: gr.Textbox
    text: gr.Textbox
    audio: gr.Audio
    video: gr.Video
    image: gr.Image
    talk: gr.Button
    send: gr.Button
    stop: gr.Button
    errors: dict[Field, gr.HTML]

    @property
    def boxes(self) -> list[gr.components.Component]:
        """What the person fills, and a turn that begins empties."""
        return [self.text, self.audio, self.video, self.image]

    @property
    def error_lines(self) -> list[gr.components.Component]:
        """What Send changes, in the fields' order."""
        return list(self.errors.values())


def build_composer() -> Composer:
    """Lay the composer out in the current Blocks."""
    errors: dict[Field, gr.HTML] = {}
    session = gr.Textbox(visible="hidden")
    with gr.Row(elem_id="compose-row", equal_height=True):
        text = gr.Textbox(
            placeholder="Type a message",
            label="Message",
            show_label=False,
            container=False,
            lines=1,
            max_lines=6,
            scale=8,
            min_width=120,
            elem_id="message",
            autofocus=True,
        )
        talk = gr.Button("Talk", variant="primary", scale=0, min_width=76, elem_id="talk")
        send = gr.Button("Send", scale=0, min_width=76, elem_id="send")
        stop = gr.Button("Stop", variant="stop", scale=0, min_width=76, elem_id="stop")
    errors[Field.TEXT] = error_line()
    errors[Field.TURN] = error_line()
    errors[Field.AUDIO] = error_line()
    with gr.Tabs(elem_id="media"):
        with gr.Tab("Camera or video"):
            video = gr.Video(
                sources=["webcam", "upload"],
                label="Its sound is the question",
                height=220,
                webcam_options=gr.WebcamOptions(mirror=False),
                elem_id="video",
            )
            errors[Field.VIDEO] = error_line()
        with gr.Tab("Picture"):
            image = gr.Image(
                sources=["upload", "webcam", "clipboard"],
                type="filepath",
                label="A picture to ask about",
                height=220,
                webcam_options=gr.WebcamOptions(mirror=False),
                elem_id="picture",
            )
            errors[Field.IMAGE] = error_line()
        with gr.Tab("Sound file"):
            audio = gr.Audio(
                sources=["upload"],
                type="filepath",
                label="A recorded question",
                editable=False,
                elem_id="sound-file",
            )
    gr.Examples(
        examples=[
            ["How many legs does a spider have?", None, None],
            ["", str(SAMPLES / "question.wav"), None],
            ["", None, str(SAMPLES / "sign.mp4")],
        ],
        inputs=[text, audio, video],
        label="Try one of these, then press Send",
        elem_id="examples",
        example_labels=["A typed question", "A spoken question", "A video with a question"],
    )
    return Composer(session, text, audio, video, image, talk, send, stop, errors)


def error_line() -> gr.HTML:
    """A line that shows what is wrong, and nothing while nothing is."""
    template = "{{#if value}}<p class='field-error' role='alert'>{{value}}</p>{{/if}}"
    return gr.HTML("", html_template=template, js_on_load=None, elem_classes="error-line")
