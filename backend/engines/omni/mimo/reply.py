"""One reply of MiMo-Audio, told as it comes."""

from __future__ import annotations

import logging
import time

from backend.contract.events import (
    Captions,
    Cue,
    Event,
    Notice,
    Reasoning,
    ReplyText,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
)
from backend.contract.media import Samples
from backend.conversation.languages import language_name
from backend.engines.events import Emit
from backend.engines.omni.mimo.captions import CaptionTrack
from backend.engines.omni.mimo.replies import ReplyDelta, ReplySplitter
from backend.engines.omni.mimo.specs import Ending
from backend.engines.omni.mimo.tail import TailGuard
from backend.engines.omni.mimo.tokens import GROUP_SAMPLES, SAMPLE_RATE
from backend.engines.omni.outputs import StageOutput

_log = logging.getLogger(__name__)

_PROGRESS_EVERY_S = 3.0


class Reply:
    """Takes the outputs of both stages for one task, and tells of them through ``emit``."""

    def __init__(
        self, turn_id: str, ending: Ending, emit: Emit, *, speaks: bool, longest: int
    ) -> None:
        """Start a reply.

        Args:
            turn_id: The turn that it belongs to.
            ending: How the prompt ended.
            emit: Told what there is to tell.
            speaks: Whether sound was asked for.
            longest: Most tokens that were asked for.
        """
        self._turn_id = turn_id
        self._out = emit
        self._speaks = speaks
        self._longest = longest
        self._splitter, self._guard = ReplySplitter(ending), TailGuard()
        self._captions, self._unshown = CaptionTrack(), False
        self._shown: list[Cue] = []
        self._tokens = self._made = 0
        self._finish = ""
        self._speaking = False
        self._told_at = time.monotonic()

    def take(self, output: StageOutput) -> bool:
        """Tell of the next output, and return whether nothing worth waiting for is left."""
        if len(output.pcm):
            self._made += len(output.pcm)
            self._sound(self._guard.feed(output.pcm))
        self._tokens += len(output.token_ids)
        self._tell(self._splitter.feed(output.text, output.token_ids))
        if output.finish:
            self._finish = output.finish
            self._tell(self._splitter.finish())
            self._sound(self._guard.finish(self._splitter.groups))
        if time.monotonic() - self._told_at > _PROGRESS_EVERY_S:
            stage = Stage.SPEAK if self._speaking else Stage.THINK
            share = min(1.0, self._tokens / self._longest)
            self._emit(StageProgress(turn_id=self._turn_id, stage=stage, share=share))
        # Without async_chunk, the last stage waits for ever for sound that is not to come.
        return bool(self._speaks and self._finish and not self._splitter.groups)

    def end(self) -> None:
        """Tell the rest: all outputs were there."""
        splitter = self._splitter
        self._tell(splitter.finish())
        self._sound(self._guard.finish(splitter.groups))
        if self._speaking:
            self._show_captions()
        if splitter.language:
            text = f"The language is {language_name(splitter.language)}."
            self._emit(Notice(turn_id=self._turn_id, code="language", text=text))
        if splitter.thinking:
            text = "The model was still reasoning at the end of its reply, so there is no answer."
            self._emit(Notice(turn_id=self._turn_id, code="reasoning_unfinished", text=text))
        elif self._finish == "length":
            text = f"The reply was cut at {self._longest:,} tokens, the longest that was allowed."
            self._emit(Notice(turn_id=self._turn_id, code="reply_cut", text=text))
        if self._speaks:
            _log.info(
                "Turn %s: %d groups of sound were written, %.1f made, %.1f heard",
                self._turn_id,
                splitter.groups,
                self._made / GROUP_SAMPLES,
                self._guard.given / GROUP_SAMPLES,
            )

    def _tell(self, delta: ReplyDelta) -> None:
        if delta.reasoning:
            self._emit(Reasoning(turn_id=self._turn_id, delta=delta.reasoning))
        if delta.answer:
            self._emit(ReplyText(turn_id=self._turn_id, delta=delta.answer))
        self._captions.add(delta)
        self._unshown = self._unshown or bool(delta.answer)
        if delta.groups and self._speaks:
            self._start_speaking()
            # Words come five at a time, and then the sound of them.
            if self._unshown:
                self._show_captions()

    def _show_captions(self) -> None:
        self._unshown = False
        if (cues := self._captions.cues()) != self._shown:
            self._shown = cues
            self._emit(Captions(turn_id=self._turn_id, cues=tuple(cues)))

    def _sound(self, pcm: Samples) -> None:
        if len(pcm):
            self._start_speaking()
            self._emit(SpeechChunk(turn_id=self._turn_id, pcm=pcm, sample_rate=SAMPLE_RATE))

    def _start_speaking(self) -> None:
        if not self._speaking:
            self._speaking = True
            self._emit(StageStarted(turn_id=self._turn_id, stage=Stage.SPEAK))

    def _emit(self, event: Event) -> None:
        self._told_at = time.monotonic()
        self._out(event)
