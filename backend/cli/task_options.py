"""What ``python -m backend.cli task`` takes, on top of every setting of the app."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from backend.contract.tasks import MAX_REPLY_TOKENS, PHRASES, TASKS
from backend.settings import Settings


class TaskOptions(Settings):
    """Work on one task; every setting of the app is an option too.

    What goes together: each task takes some of the inputs, and says what it lacks.
    """

    query_type: str = Field("", description=f"The task: {', '.join(TASKS)}.")
    variant: str = Field(
        "", description="Another way to do it: clean, no_thinking or thinking, where there is one."
    )
    text: str = Field("", description="What to say, or the message of a text dialogue.")
    instruct: str = Field("", description="How to say it, in words.")
    audio_path: Path | None = Field(None, description="The recording to be heard.")
    voice_path: Path | None = Field(None, description="A clip of the voice to speak in.")
    question: str = Field("", description="What to say about the recording.")
    system_prompt: str = Field("", description="Instructions to the assistant.")
    messages: Path | None = Field(
        None,
        description='A dialogue so far, as JSON: [{"role": "user" or "assistant", "text": …,'
        ' "audio": a path from the file\'s folder}, …]. One that ends with the user is answered.',
    )
    phrase: int = Field(
        0,
        ge=0,
        lt=PHRASES,
        description="Number of the wording that introduces the text or recording.",
    )
    max_reply_tokens: int = Field(
        MAX_REPLY_TOKENS,
        ge=1,
        le=MAX_REPLY_TOKENS,
        description="Longest reply, in the model's tokens.",
    )
    num_prompts: int = Field(1, ge=1, description="How often it is asked, all at once.")
    output_dir: Path = Field(
        Path("out"), description="Where {task}/{name}.txt, .wav, .srt and .reasoning.txt go."
    )
