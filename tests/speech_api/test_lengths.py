"""A finished file says how long it is, whatever it was written as."""

from __future__ import annotations

import av
import numpy as np
import pytest
import soundfile

from backend.speech_api.formats import SpeechFile, SpeechFormat
from backend.speech_api.lengths import tell_length
from tests.scripted_engine import tone

TAGS = {"artist": "the engine, voice data", "comment": "Synthetic speech"}


@pytest.mark.parametrize("kind", [SpeechFormat.WAV, SpeechFormat.FLAC, SpeechFormat.MP3])
@pytest.mark.parametrize("rate", [24_000, 22_050])
def test_players_know_the_length_of_a_finished_file(tmp_path, kind, rate):
    path = tmp_path / "speech"
    file = SpeechFile(kind, rate, TAGS)
    whole = file.feed(tone(1.5, rate=rate)) + file.feed(np.zeros(0, np.float32), last=True)
    path.write_bytes(whole)
    tell_length(path, kind)
    assert soundfile.info(path).duration == pytest.approx(1.5, abs=0.1)
    samples, _ = soundfile.read(path)
    assert np.abs(samples).max() == pytest.approx(0.3, abs=0.02)
    with av.open(str(path)) as container:
        assert "Synthetic speech" in container.metadata.values()
    if kind is not SpeechFormat.MP3:  # which is padded to whole frames
        assert soundfile.info(path).frames == len(samples) == 36_000
