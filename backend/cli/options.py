"""What the command line takes, on top of every setting of the app."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from backend.contract.media import AudioClip
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.settings import Settings

_MODES = {"Base": VoiceMode.CLONE, "CustomVoice": VoiceMode.NAMED}


class CliOptions(Settings):
    """Ask by files and print what comes back; every setting of the app is an option too."""

    text: str = Field("", description="Typed words, asked with every clip.")
    audio: Path | None = Field(None, description="A recording, or a folder of clips to go through.")
    video: Path | None = Field(None, description="A video.")
    image: Path | None = Field(None, description="A picture.")
    sampling_rate: int = Field(
        16_000, ge=8000, le=48_000, description="Rate at which the recording is handed over, in Hz."
    )
    num_prompts: int = Field(1, ge=1, description="How often every question is asked, all at once.")
    output_dir: Path = Field(Path("out"), description="Where {turn}.txt and {turn}.wav go.")
    modalities: Literal["text,audio", "text"] = Field(
        "text,audio", description="What is wanted: text alone is not spoken."
    )

    system_prompt: str = Field(TurnSettings().system_prompt, description="The instructions.")
    language: str = Field("auto", description="Language of the question, as en or de.")
    max_reply_tokens: int = Field(TurnSettings().max_reply_tokens, description="Longest reply.")

    task_type: Literal["Base", "CustomVoice"] | None = Field(
        None, description="Base copies a voice, CustomVoice has its own; none for what there is."
    )
    speaker: str = Field("", description="A voice of the model, by name.")
    voice_language: str = Field("auto", description="Language to speak, as en or de.")
    instruct: str = Field("", description="How to speak, in words.")
    ref_audio: Path | None = Field(None, description="A clip of the voice to copy.")
    ref_text: str = Field("", description="The words of that clip.")
    x_vector_only: bool = Field(False, description="Copy the sound of the voice alone.")
    pass_token_ids: bool = Field(False, description="Hand the talker tokens instead of text.")

    def for_turn(self, reference: AudioClip | None) -> TurnSettings:
        """The settings of every turn, with the clip that ``ref_audio`` names."""
        voice = VoiceSpec(
            mode=_MODES[self.task_type] if self.task_type else None,
            speaker=self.speaker,
            language=self.voice_language,
            style=self.instruct,
            reference_audio=reference,
            reference_text=self.ref_text,
            x_vector_only=self.x_vector_only,
            pass_token_ids=self.pass_token_ids,
        )
        return TurnSettings(
            system_prompt=self.system_prompt,
            language=self.language,
            max_reply_tokens=self.max_reply_tokens,
            spoken=self.modalities != "text",
            voice=voice,
        )
