"""Stages that say what they are told to say, at the pace they are told to keep."""

from __future__ import annotations

import time

import numpy as np

from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn
from backend.engines.embedded.engine import EmbeddedEngine

RATE = 22_050


class FakeRecognizer:
    languages = ("en",)

    def __init__(self, segments=("What is the time?",)):
        self.segments = segments
        self.closed = False

    def load(self):
        pass

    def close(self):
        self.closed = True

    def transcribe(self, clip, language, stop, report):
        yield from self.segments


class FakeEyes:
    def __init__(self, notes="It is bright.", *, error=None):
        self.notes = notes
        self.looks = 0
        self.error = error

    def load(self):
        pass

    def close(self):
        pass

    def look(self, frames, stop):
        self.looks += 1
        if self.error:
            raise self.error
        return self.notes


class FakeChat:
    """Answers with ``deltas``; counts a token for each character of the prompt."""

    def __init__(self, deltas=("It is ", "noon."), *, context=4096, sees=False, pause_s=0.0):
        self.deltas = deltas
        self.context = context
        self.sees_pictures = sees
        self.pause_s = pause_s
        self.prompts = []
        self.stopped = False
        self.error = None
        self.healthy = True

    def load(self):
        pass

    def close(self):
        pass

    def fits(self, messages, tokens):
        return sum(len(str(message["content"])) for message in messages) <= tokens

    def reply(self, messages, max_tokens, stop, report):
        self.prompts.append(messages)
        if self.error and max_tokens > 1:
            raise self.error
        for delta in self.deltas[:max_tokens]:
            time.sleep(self.pause_s)
            if stop.is_set():
                self.stopped = True
                return
            yield delta

    def check(self):
        if not self.healthy:
            raise RuntimeError("The chat model does not answer.")


class FakeVoice:
    name = "double"
    language = ""
    sample_rate = RATE

    def __init__(self, *, error=None):
        self.said = []
        self.speeds = []
        self.pitches = []
        self.error = error

    def load(self):
        pass

    def close(self):
        pass

    def speak(self, text, speed, stop, pitch=0.0):
        if self.error:
            raise self.error
        self.said.append(text)
        self.speeds.append(speed)
        self.pitches.append(pitch)
        yield np.full(len(text) * 100, 0.1, np.float32)


def fake_engine(**stages):
    doubles = {
        "recognizer": FakeRecognizer(),
        "eyes": FakeEyes(),
        "chat": FakeChat(),
        "voice": FakeVoice(),
    }
    return EmbeddedEngine(**{**doubles, **stages})


def a_turn(**parts):
    return Turn(session_id="session", generation=1, **parts)


def a_clip(seconds=1.0, rate=16_000):
    return AudioClip(np.zeros(int(seconds * rate), np.float32), rate)


def frames_of(images, duration_s=0.0):
    images = np.asarray(images, np.uint8)
    times = np.linspace(0.0, duration_s, len(images))
    return VideoFrames(images, times, duration_s)


def a_picture(colour=(30, 90, 200)):
    return frames_of(np.full((1, 90, 160, 3), colour))


async def events_of(engine, turn):
    return [event async for event in engine.run(turn)]


def only(events, kind):
    return [event for event in events if isinstance(event, kind)]


def words_of(prompt):
    return "\n".join(str(message["content"]) for message in prompt)
