"""The mark in our files is found by Perth's own detector, which needs PyTorch."""

from __future__ import annotations

import io
import sys
from importlib.util import find_spec
from types import ModuleType

import av
import numpy as np
import pytest
import soxr

from backend.speech_api.formats import SpeechFile, SpeechFormat
from backend.voices.watermark import watermarked
from tests.realtime.sounds import RATE
from tests.voices.recordings import question

pytestmark = [
    pytest.mark.omni,
    pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed"),
]


@pytest.fixture(scope="module")
def perth():
    """Perth as it is, but for librosa, which it takes to resample alone."""
    librosa = ModuleType("librosa")
    librosa.resample = lambda sound, *, orig_sr, target_sr, res_type="": soxr.resample(
        sound, orig_sr, target_sr
    )
    sys.modules["librosa"] = librosa
    from perth import PerthImplicitWatermarker

    yield PerthImplicitWatermarker()
    del sys.modules["librosa"]


@pytest.fixture(scope="module")
def confidence(perth):
    """How sure Perth is, 0 to 1, that a sound is marked."""
    return lambda sound, rate: float(perth.get_watermark(sound, rate, round=False))


def at_rate(rate):
    return soxr.resample(question(1), RATE, rate)


def through_a_file(sound, rate, kind):
    """The sound as it comes out of a file of this kind, and its rate there."""
    with av.open(io.BytesIO(SpeechFile(kind, rate, {}).feed(sound, last=True))) as container:
        frames = [frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)]
        return np.concatenate(frames).astype(np.float32), container.streams[0].rate


def test_the_mark_is_the_one_that_perth_makes(perth):
    sound = at_rate(32_000)
    theirs = perth.apply_watermark(sound, 32_000)
    assert np.allclose(watermarked(sound, 32_000)[: len(theirs)], theirs, atol=1e-5)


@pytest.mark.parametrize("rate", [22_050, 24_000])
def test_perth_finds_the_mark_and_finds_none_where_there_is_none(confidence, rate):
    assert confidence(at_rate(rate), rate) < 0.1
    assert confidence(watermarked(at_rate(rate), rate), rate) > 0.9


@pytest.mark.parametrize("rate", [22_050, 24_000])
@pytest.mark.parametrize("kind", [SpeechFormat.MP3, SpeechFormat.OPUS, SpeechFormat.AAC])
def test_perth_finds_the_mark_in_packed_files(confidence, rate, kind):
    marked = through_a_file(watermarked(at_rate(rate), rate), rate, kind)
    assert confidence(*marked) > 0.9
    assert confidence(*through_a_file(at_rate(rate), rate, kind)) < 0.1
