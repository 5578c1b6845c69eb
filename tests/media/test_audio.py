"""Intake of sound: faults A01, A02, A03, A05, A06, A39 and A40."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.contract.errors import Field, TurnRefused
from backend.media import audio, refusals
from backend.media.limits import MediaLimits
from tests import clips

LIMITS = MediaLimits(max_audio_s=300, max_video_s=600, max_bytes=200_000_000)
PCM_TYPES = ["uint8", "int8", "int16", "int32", "float32", "float64"]


def peak(clip):
    return float(np.abs(clip.samples).max())


def refusal(call, *args, **kwargs):
    with pytest.raises(TurnRefused) as caught:
        call(*args, **kwargs)
    return caught.value


# Sample types (fault A01)


@pytest.mark.parametrize("dtype", PCM_TYPES)
def test_every_sample_type_gives_the_same_sound(dtype):
    sound = clips.tone(1.0, 16_000)
    clip = audio.from_samples(clips.as_pcm(sound, dtype), 16_000)
    rounding = 1 / 127 if dtype.endswith("int8") else 1e-4
    assert clip.samples.dtype == np.float32
    assert len(clip.samples) == 16_000
    np.testing.assert_allclose(clip.samples, sound, atol=rounding)
    assert peak(clip) == pytest.approx(0.5, rel=0.01)


@given(dtype=st.sampled_from(PCM_TYPES), level=st.sampled_from([0.02, 0.3, 0.99]))
def test_loudness_is_left_as_it_was(dtype, level):
    clip = audio.from_samples(clips.as_pcm(clips.tone(0.2, 16_000, peak=level), dtype), 16_000)
    assert peak(clip) == pytest.approx(level, abs=1 / 127)


def test_big_endian_samples_sound_like_little_endian_ones():
    samples = clips.as_pcm(clips.tone(0.2, 16_000), "int16")
    clip = audio.from_samples(samples.astype(">i2"), 16_000)
    np.testing.assert_array_equal(clip.samples, audio.from_samples(samples, 16_000).samples)


@pytest.mark.parametrize("dtype", ["int64", "uint16", "complex64", "bool"])
def test_types_that_are_not_pcm_are_refused_by_name(dtype):
    refused = refusal(audio.from_samples, np.ones(16_000, dtype), 16_000)
    assert refused.code == "audio_type"
    assert dtype in refused.message


# Shapes and rates (fault A02)


@settings(deadline=None)
@given(
    dtype=st.sampled_from(PCM_TYPES),
    rate=st.integers(8_000, 96_000),
    shape=st.sampled_from(["N", "N1", "1N", "N2", "2N"]),
)
@example(dtype="int16", rate=44_100, shape="N2")
@example(dtype="int16", rate=48_000, shape="2N")
def test_two_seconds_stay_two_seconds_in_any_type_rate_and_shape(dtype, rate, shape):
    mono = clips.as_pcm(clips.tone(2.0, rate), dtype)
    columns = np.stack([mono] * (2 if "2" in shape else 1), axis=1)
    samples = {"N": mono, "N1": columns, "N2": columns, "1N": columns.T, "2N": columns.T}[shape]
    clip = audio.from_samples(samples, rate)
    assert clip.sample_rate == 16_000
    assert clip.samples.ndim == 1
    assert clip.duration_s == pytest.approx(2.0, rel=0.01)
    assert peak(clip) == pytest.approx(0.5, rel=0.02)


def test_channels_are_averaged():
    left = clips.tone(0.5, 16_000, peak=0.8)
    clip = audio.from_samples(np.stack([left, np.zeros_like(left)], axis=1), 16_000)
    np.testing.assert_allclose(clip.samples, left / 2, atol=1e-6)


@pytest.mark.parametrize("shape", [(), (9, 9), (2, 3, 4), (16_000, 12)])
def test_shapes_that_are_not_sound_are_refused(shape):
    assert refusal(audio.from_samples, np.zeros(shape), 16_000).code == "audio_shape"


@pytest.mark.parametrize("rate", [-1, 0, 7_999, 96_001, 192_000])
def test_rates_out_of_range_are_refused_with_the_range(rate):
    refused = refusal(audio.from_samples, np.zeros(96_000), rate)
    assert refused.code == "audio_rate"
    assert f"{rate} Hz" in refused.message
    assert "8000 to 96000 Hz" in refused.message


# Empty, tiny and broken (fault A03)


@pytest.mark.parametrize("shape", [0, (0, 2), (2, 0)])
def test_an_empty_array_is_refused(shape):
    assert refusal(audio.from_samples, np.zeros(shape), 16_000).code == "audio_empty"


@pytest.mark.parametrize("rate", [16_000, 48_000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_that_are_no_sound_are_refused(bad, rate):
    samples = np.zeros(rate)
    samples[rate // 2] = bad
    assert refusal(audio.from_samples, samples, rate).code == "audio_not_finite"


@pytest.mark.parametrize("seconds", [0.01, 0.05])
def test_a_blip_is_refused_with_its_length_and_the_shortest(seconds):
    refused = refusal(audio.from_samples, clips.tone(seconds, 16_000), 16_000)
    assert refused.code == "audio_too_short"
    assert f"{seconds} s" in refused.message
    assert "0.1 s" in refused.message
    assert refused.field is Field.AUDIO


@pytest.mark.parametrize("seconds", [0.1, 0.4])
def test_a_short_word_passes(seconds):
    assert audio.from_samples(clips.tone(seconds, 48_000), 48_000).duration_s == seconds


# Kinds of file (fault A05)

KINDS = {
    "wav 8-bit": ("a.wav", "pcm_u8", ""),
    "wav 16-bit": ("a.wav", "pcm_s16le", ""),
    "wav 24-bit": ("a.wav", "pcm_s24le", ""),
    "wav 32-bit": ("a.wav", "pcm_s32le", ""),
    "wav float": ("a.wav", "pcm_f32le", ""),
    "wav double": ("a.wav", "pcm_f64le", ""),
    "wav a-law": ("a.wav", "pcm_alaw", ""),
    "mp3": ("a.mp3", "libmp3lame", ""),
    "m4a": ("a.m4a", "aac", "ipod"),
    "m4a lossless": ("a.m4a", "alac", "ipod"),
    "aac": ("a.aac", "aac", "adts"),
    "flac": ("a.flac", "flac", ""),
    "ogg opus": ("a.ogg", "libopus", ""),
    "webm opus": ("a.webm", "libopus", ""),
}


@pytest.mark.parametrize(
    ("kind", "layout"),
    [(kind, "stereo") for kind in KINDS]
    + [
        (kind, layout)
        for kind in ("wav 24-bit", "m4a", "flac")
        for layout in ("mono", "5.1", "7.1")
    ],
)
def test_every_kind_of_file_keeps_length_and_loudness(tmp_path, kind, layout):
    name, codec, container = KINDS[kind]
    sound = clips.tone(2.0, 48_000)
    path = clips.write_sound(tmp_path / name, sound, 48_000, codec, layout=layout, kind=container)
    clip = audio.decode(path, LIMITS)
    lossy = codec in {"libmp3lame", "aac", "libopus", "pcm_alaw"}
    # AAC without a container cannot say how much of its first packet is padding.
    assert clip.duration_s == pytest.approx(2.0, rel=0.015 if kind == "aac" else 0.01)
    middle = clip.samples[8_000:24_000]
    if not lossy:
        assert np.abs(middle).max() == pytest.approx(0.5, rel=0.01)
    # AAC filters the tone out of the bass channel, one of six or eight.
    rounding = 0.2 if lossy and layout in {"5.1", "7.1"} else 0.03
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.5 / np.sqrt(2), rel=rounding)


def test_more_channels_than_a_cinema_has_are_refused(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros((16_000, 16)), 16_000)
    refused = refusal(audio.decode, tmp_path / "a.wav", LIMITS)
    assert refused.code == "audio_channels"
    assert "16 channels" in refused.message


@pytest.mark.parametrize("write", [clips.write_vorbis, clips.write_wav_extensible])
def test_files_of_other_writers_are_read_too(tmp_path, write):
    clip = audio.decode(write(tmp_path / "a.bin", clips.tone(2.0, 44_100), 44_100), LIMITS)
    assert clip.duration_s == pytest.approx(2.0, rel=0.01)
    assert np.abs(clip.samples[8_000:24_000]).max() == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 96_000])
def test_every_rate_comes_out_at_16_khz(tmp_path, rate):
    path = clips.write_sound(tmp_path / "a.flac", clips.tone(2.0, rate), rate, "flac")
    clip = audio.decode(path, LIMITS)
    assert clip.sample_rate == 16_000
    assert clip.duration_s == pytest.approx(2.0, rel=0.01)
    assert peak(clip) == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize(
    "name", ["_Voice memo...__ (1) ümlaut 语音.m4a", "no-ending", "wrong.txt", "wrong.mp3", "-.wav"]
)
def test_the_name_of_a_file_does_not_matter(tmp_path, name):
    path = clips.write_sound(
        tmp_path / name, clips.tone(1.0, 44_100), 44_100, "aac", layout="stereo", kind="ipod"
    )
    assert audio.decode(path, LIMITS).duration_s == pytest.approx(1.0, abs=0.025)


def test_the_sound_of_a_video_is_taken(tmp_path):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(10), sound=clips.tone(1.0, 48_000))
    assert audio.decode(path, LIMITS).duration_s == pytest.approx(1.0, abs=0.03)


def test_a_video_without_sound_is_refused_as_a_recording(tmp_path):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(10))
    assert refusal(audio.decode, path, LIMITS).code == "audio_no_sound"


@pytest.mark.parametrize("content", [b"", b"hello", bytes(5000), b"\xff\xfb" + bytes(5000)])
def test_other_files_are_refused_with_the_accepted_kinds(tmp_path, content):
    path = tmp_path / "a.mp3"
    path.write_bytes(content)
    refused = refusal(audio.decode, path, LIMITS)
    assert refused.code == "audio_unreadable"
    for kind in ("WAV", "MP3", "M4A", "FLAC", "OGG", "WebM"):
        assert kind in refused.message


# Limits (fault A06)


def test_a_recording_over_the_limit_is_refused_with_both_lengths(tmp_path):
    limits = MediaLimits(max_audio_s=60, max_video_s=600, max_bytes=10**9)
    path = clips.write_sound(tmp_path / "a.mp3", clips.tone(70.0, 16_000), 16_000, "libmp3lame")
    refused = refusal(audio.decode, path, limits)
    assert refused.code == "audio_too_long"
    assert refused.message == "This recording is 1 min 11 s long; the limit is 1 min."


def test_a_recording_at_the_limit_is_taken_to_its_end(tmp_path):
    sound = np.concatenate([np.zeros(61 * 16_000), clips.tone(1.0, 16_000)])
    path = clips.write_sound(tmp_path / "a.mp3", sound, 16_000, "libmp3lame")
    clip = audio.decode(path, MediaLimits(max_audio_s=62, max_video_s=600, max_bytes=10**9))
    assert clip.duration_s == pytest.approx(62, abs=0.1)
    assert np.abs(clip.samples[-12_000:-4_000]).max() == pytest.approx(0.5, rel=0.06)


def test_a_file_over_the_limit_on_bytes_is_refused_with_both_sizes(tmp_path):
    path = clips.write_sound(tmp_path / "a.wav", clips.tone(1.0, 48_000), 48_000, "pcm_s16le")
    refused = refusal(audio.decode, path, MediaLimits(300, 600, max_bytes=50_000))
    assert refused.code == "audio_too_large"
    assert "0.1 MB" in refused.message
    assert "the limit is 0.05 MB" in refused.message


def test_packets_that_lie_about_their_length_do_not_pass_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(audio, "_check_length", lambda *_: None)
    path = clips.write_sound(tmp_path / "a.mp3", clips.tone(30.0, 16_000), 16_000, "libmp3lame")
    limits = MediaLimits(max_audio_s=5, max_video_s=600, max_bytes=10**9)
    refused = refusal(audio.decode, path, limits)
    assert refused.code == "audio_too_long"


@pytest.mark.parametrize(("name", "codec"), [("a.flac", "flac"), ("a.webm", "libopus")])
def test_a_recording_that_breaks_off_is_refused_and_not_used_in_part(tmp_path, name, codec):
    path = clips.write_sound(tmp_path / name, clips.tone(5.0, 48_000), 48_000, codec)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused = refusal(audio.decode, path, LIMITS)
    assert refused.code == "audio_damaged"
    assert "of 5 s" in refused.message


def test_a_single_bad_packet_is_passed_over(tmp_path):
    path = clips.write_sound(tmp_path / "a.mp3", clips.tone(5.0, 48_000), 48_000, "libmp3lame")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 200] = bytes(200)
    path.write_bytes(data)
    assert audio.decode(path, LIMITS).duration_s == pytest.approx(5.0, abs=0.15)


def test_a_file_damaged_throughout_is_refused(tmp_path):
    path = clips.write_sound(
        tmp_path / "a.aac", clips.tone(5.0, 48_000), 48_000, "aac", kind="adts"
    )
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    data[::40] ^= 0x5A
    path.write_bytes(data.tobytes())
    assert refusal(audio.decode, path, LIMITS).code in {"audio_damaged", "audio_unreadable"}


# Paths and playlists (faults A39 and A40)


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n{url}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{url}'\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 9 RTP/AVP 0\n",
    ],
    ids=["hls", "concat", "sdp"],
)
def test_a_playlist_in_place_of_sound_opens_nothing(tmp_path, playlist):
    inner = clips.write_sound(tmp_path / "a.wav", clips.tone(1.0, 16_000), 16_000, "pcm_s16le")
    path = tmp_path / "a.m3u8"
    path.write_text(playlist.format(url=inner))
    assert refusal(audio.decode, path, LIMITS).code == "audio_unreadable"


def test_missing_and_unsuitable_paths_are_refused_alike(tmp_path):
    text = tmp_path / "text"
    text.write_text("root:x:0:0")
    paths = [text, tmp_path / "missing", tmp_path, tmp_path / "a\0b", tmp_path / ("x" * 5000)]
    refusals_seen = {refusal(audio.decode, path, LIMITS).message for path in paths}
    assert refusals_seen == {refusals.unreadable(Field.AUDIO).message}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.05, "0.05 s"),
        (3.21, "3.2 s"),
        (12.0, "12 s"),
        (12.3, "13 s"),
        (300.0, "5 min"),
        (370.0, "6 min 10 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_lengths_are_told_in_plain_words(seconds, words):
    assert refusals.in_words(seconds) == words
