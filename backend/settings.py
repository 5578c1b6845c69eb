"""One settings class: environment, command line and ``.env`` are the same fields."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, Self

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from backend.addresses import is_server, is_this_machine
from backend.pipelines import PipelineSettings


def _data_dir() -> Path:
    """Where the platform keeps a user's data; ``/data`` is what lasts of a Hugging Face Space."""
    lasting = Path("/data")
    if "SPACE_ID" in os.environ and lasting.is_dir():
        return lasting / "omni-live"
    return user_data_path("omni-live", appauthor=False)


class Settings(PipelineSettings):
    """All that can be set. ``OMNI_LIVE_PORT=8000``, ``--port 8000`` and ``.env`` mean the same."""

    model_config = SettingsConfigDict(
        env_prefix="OMNI_LIVE_", env_file=".env", extra="ignore", cli_kebab_case=True
    )

    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 for all.")
    port: int = Field(7860, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    root_path: str = Field("", description="Path of the app behind a proxy, such as /voice.")

    data_dir: Path = Field(
        default_factory=_data_dir,
        description="Where kept voices and spoken files are; on a Space with persistent storage it"
        " is on that.",
    )

    engine: Literal["auto", "embedded", "omni", "remote"] = Field(
        "auto",
        description="Which engine answers; auto is remote with --url, else omni on a CUDA GPU,"
        " else embedded.",
    )
    stall_timeout_s: float = Field(30.0, gt=0, description="Seconds a turn may make no progress.")
    max_waiting_turns: int = Field(32, ge=0, description="Turns that may wait for the engine.")
    idle_minutes: float = Field(
        15.0, gt=0, description="Minutes without a sign of life that close a page's connection."
    )
    max_connections: int = Field(400, gt=0, description="Connections of pages at a time, in all.")
    max_session_connections: int = Field(
        8, gt=0, description="Connections of one conversation at a time."
    )

    max_audio_s: float = Field(300.0, gt=0, description="Longest recording, in seconds.")
    max_video_s: float = Field(600.0, gt=0, description="Longest video, in seconds.")
    max_upload_mb: int = Field(200, gt=0, description="Largest file, in megabytes.")
    max_text_chars: int = Field(8000, gt=0, description="Longest typed message, in characters.")
    max_script_chars: int = Field(
        20_000, gt=0, description="Longest text that is spoken as it is, in characters."
    )
    max_batch_items: int = Field(500, gt=0, description="Items of a file that is spoken.")
    max_batch_chars: int = Field(
        200_000, gt=0, description="Characters of all texts of a file that is spoken."
    )
    max_own_batches: int = Field(
        10, gt=0, description="Spoken files that one person may have at a time."
    )
    max_batches: int = Field(100, gt=0, description="Spoken files of everybody at a time.")
    batch_days: float = Field(
        7.0, gt=0, description="Days without a change after which a spoken file is deleted."
    )
    max_frames: int = Field(16, ge=1, le=64, description="Frames taken from a video.")
    frame_long_side: int = Field(640, ge=64, description="Long side of a frame, in pixels.")

    deploy_config: Path = Field(
        Path("deploy/aura_omni.yaml"),
        description="Deploy file of the omni engine's pipeline: an aura_*.yaml converses,"
        " qwen3_tts.yaml speaks texts as they are.",
    )
    models: dict[int, str] = Field(
        default_factory=dict,
        description="Models of the omni engine to run instead of the deploy file's, as JSON by"
        ' stage number: {"1": "/models/AURA"}.',
    )
    sampling: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Sampling parameters of the omni engine to change, as JSON by stage name:"
        ' {"think": {"temperature": 0.2}}. Stages: hear, think, speak, sound; qwen3_tts.yaml'
        " has the last two, mimo_audio.yaml think and sound.",
    )
    tokenizer: str = Field(
        default_factory=lambda: os.environ.get("MIMO_AUDIO_TOKENIZER_PATH", ""),
        description="Folder or hub name of MiMo-Audio's audio tokenizer, instead of the deploy"
        " file's; MIMO_AUDIO_TOKENIZER_PATH is taken too.",
    )
    sound_groups: int = Field(
        0,
        ge=0,
        le=70,
        description="Groups of 160 ms of sound that MiMo-Audio makes at a time, instead of the"
        " deploy file's: 6 is heard soonest, 10 suits live use, 30 is the least work; at least 3.",
    )
    stage_timeout_s: int = Field(
        900, gt=0, description="Seconds that one stage of the omni engine may take to start."
    )
    log_stats: bool = Field(False, description="Have vLLM-Omni log its statistics.")

    url: str = Field("", description="Address of the remote engine's server, as http://host:8091.")
    api_key: SecretStr = Field(
        SecretStr(""), description="Key of that server, where it was started with one."
    )
    remote_sessions: int = Field(
        1, ge=1, description="Sessions that server lets run at a time: its max_sessions."
    )
    remote_speakers: list[str] = Field(
        default_factory=list,
        description="Its voices to choose from, as Vivian,Ryan; not needed where it lists them, as"
        " Qwen3-TTS does. A name that AURA's CustomVoice model does not have ends that server.",
    )

    recognizer: str = Field(
        "", description="faster-whisper directory or hub name; empty for the built-in one."
    )
    chat_model: str = Field(
        "", description="GGUF path or hub 'owner/name/file.gguf'; empty for the built-in one."
    )
    chat_projector: str = Field(
        "", description="Vision projector of the chat model, likewise; empty for none."
    )
    piper_voice: Path | None = Field(
        None, description="Piper voice (.onnx beside its .onnx.json); none for the built-in one."
    )
    chat_context: int = Field(4096, ge=512, description="Context of the chat model, in tokens.")
    threads: int = Field(0, ge=0, description="CPU threads for the models; 0 for all cores.")

    @property
    def may_switch(self) -> bool:
        """Whether people may change the pipeline: by default where only this machine gets in."""
        alone = is_this_machine(self.host) and not self.root_path
        return alone if self.allow_switching is None else self.allow_switching

    @field_validator("url")
    @classmethod
    def _looks_like_a_server(cls, url: str) -> str:
        if url and not is_server(url):
            raise ValueError("this is not the address of a server: it looks like http://host:8091")
        return url

    @field_validator("sound_groups")
    @classmethod
    def _long_enough(cls, groups: int) -> int:
        if groups in (1, 2):  # vLLM-Omni would take 10 without a word
            raise ValueError("a piece of sound has at least 3 groups; 0 takes the deploy file's")
        return groups

    @model_validator(mode="after")
    def _remote_has_an_address(self) -> Self:
        if self.engine == "remote" and not self.url:
            raise ValueError("the remote engine needs --url, such as http://host:8091")
        return self
