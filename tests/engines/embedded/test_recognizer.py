"""The guards around the recogniser that need no model."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backend.engines.embedded import recognizer
from backend.engines.embedded.recognizer import WhisperRecognizer, repeats_itself
from backend.engines.embedded.stages import StopSignal
from tests.engines.embedded.doubles import a_clip


class WindowsOfTenSeconds:
    """Calls ``step`` around the encoding of each window, as the real model does."""

    step = None

    def __init__(self, windows, seen=lambda: None):
        self.windows = windows
        self.seen = seen

    def transcribe(self, speech, **options):
        return self.segments(), None

    def segments(self):
        for window in range(self.windows):
            self.step()
            self.seen()
            self.step()
            yield SimpleNamespace(
                text=f" Window {window}.",
                end=10.0 * (window + 1),
                compression_ratio=1.0,
                avg_logprob=-0.2,
                no_speech_prob=0.0,
            )


def hearing(monkeypatch, model):
    monkeypatch.setattr(recognizer, "speech_in", lambda samples: samples)
    whisper = WhisperRecognizer(None, 1)
    whisper._model, whisper._languages = model, ("en",)
    return whisper


def test_the_share_that_is_heard_is_reported_around_each_window(monkeypatch):
    whisper, shares = hearing(monkeypatch, WindowsOfTenSeconds(4)), []
    words = list(whisper.transcribe(a_clip(40.0), "en", StopSignal(), shares.append))
    assert len(words) == 4
    assert shares == [0, 0, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 1]


def test_hearing_is_left_in_the_middle_of_a_window(monkeypatch):
    stop = StopSignal()
    whisper = hearing(monkeypatch, WindowsOfTenSeconds(4, stop.set))
    assert list(whisper.transcribe(a_clip(40.0), "en", stop, lambda share: None)) == []
    assert whisper._model.step is None


@pytest.mark.parametrize(
    "text",
    [
        "No no no no",
        "a b a b a b a b c",
        "stop. stop. stop. stop.",
        "What is ice made of? What is ice made of?",
        "I said how do I, how do I sleep?",
    ],
)
def test_words_in_a_loop_are_told(text):
    assert repeats_itself(text)


@pytest.mark.parametrize(
    "text", ["", "no", "No, no, no.", "It is, it is!", "What is the capital of France?"]
)
def test_words_as_people_say_them_are_no_loop(text):
    assert not repeats_itself(text)
