"""Intake of video: faults A08, A09, A10, A11, A12 and A39."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import av
import numpy as np
import pytest

from backend.contract.errors import Field, TurnRefused
from backend.media import refusals, video
from backend.media.limits import MediaLimits
from tests import clips

LIMITS = MediaLimits(max_audio_s=300, max_video_s=600, max_bytes=200_000_000)
NO_SOUND = ("This video has no sound.",)


def refusal(path, limits=LIMITS):
    with pytest.raises(TurnRefused) as caught:
        video.decode(path, limits)
    assert caught.value.field is Field.VIDEO
    return caught.value


def brightness(frames):
    """Of each frame, 0 for black to 1 for white."""
    return frames.images.mean(axis=(1, 2, 3)) / 255


def assert_is_ramp(frames, seconds):
    """Each frame of a black-to-white ramp must show what was there at its own time."""
    np.testing.assert_allclose(brightness(frames), frames.times_s / seconds, atol=0.04)


def assert_red_over_blue(image):
    assert image[0, 0, 0] > 200
    assert image[-1, -1, 2] > 200


# Sampling by time, not by the header (fault A08)

KINDS = {
    "mp4": {"name": "a.mp4"},
    "mov": {"name": "a.mov"},
    "mkv": {"name": "a.mkv"},
    "avi": {"name": "a.avi", "codec": "mpeg4"},
    "avi mjpeg": {"name": "a.avi", "codec": "mjpeg", "strict": "unofficial"},
    "webm": {"name": "a.webm", "codec": "libvpx"},
    "webm vp9": {"name": "a.webm", "codec": "libvpx-vp9", "cpu-used": "8", "deadline": "realtime"},
    "live webm": {"name": "a.webm", "codec": "libvpx", "muxer": {"live": "1"}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_video_is_sampled_over_all_of_its_time(tmp_path, kind):
    options = dict(KINDS[kind])
    path = clips.write_video(
        tmp_path / options.pop("name"), clips.grey_ramp(30), rate=10, **options
    )
    decoded = video.decode(path, LIMITS)
    frames = decoded.frames
    assert frames.images.shape == (16, 48, 64, 3)
    assert frames.images.dtype == np.uint8
    assert frames.times_s[0] == 0
    assert frames.times_s[-1] == pytest.approx(2.9, abs=0.05)
    assert np.diff(frames.times_s) == pytest.approx([0.193] * 15, abs=0.11)
    assert frames.duration_s == pytest.approx(3.0, abs=0.05)
    assert_is_ramp(frames, 2.9)
    assert decoded.sound_notices == NO_SOUND


def test_live_webm_really_has_no_length_in_its_header(tmp_path):
    path = clips.write_video(
        tmp_path / "a.webm", clips.grey_ramp(30), codec="libvpx", muxer={"live": "1"}
    )
    with av.open(str(path)) as container:
        assert container.duration is None
        assert container.streams.video[0].frames == 0


@pytest.mark.parametrize("name", ["no-ending", "wrong.txt", "__ (1) ümlaut 视频.mp4", "wrong.avi"])
def test_the_name_of_a_file_does_not_matter(tmp_path, name):
    path = clips.write_video(tmp_path / name, clips.grey_ramp(3), kind="mp4")
    assert len(video.decode(path, LIMITS).frames.images) == 3


def test_uneven_frame_times_are_kept(tmp_path):
    times_ms = [0, 100, 1000, 1100, 4000]
    path = clips.write_video(tmp_path / "a.mkv", clips.grey_ramp(5), times_ms=times_ms, bf="0")
    frames = video.decode(path, LIMITS).frames
    np.testing.assert_allclose(frames.times_s, np.array(times_ms) / 1000, atol=0.002)
    np.testing.assert_allclose(brightness(frames), [0, 0.25, 0.5, 0.75, 1], atol=0.03)


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_times_count_from_the_first_frame(tmp_path, name):
    times_ms = list(range(7000, 8000, 100))
    path = clips.write_video(tmp_path / name, clips.grey_ramp(10), times_ms=times_ms, bf="0")
    frames = video.decode(path, LIMITS).frames
    np.testing.assert_allclose(frames.times_s, np.arange(10) / 10, atol=0.002)


@pytest.mark.parametrize(("name", "whole"), [("a.mp4", True), ("a.mkv", False)])
def test_frames_before_time_zero_are_hidden_or_given_a_time(tmp_path, name, whole):
    path = clips.write_video(
        tmp_path / name,
        clips.grey_ramp(10),
        times_ms=list(range(-400, 600, 100)),
        muxer={"avoid_negative_ts": "disabled"},
        bf="0",
    )
    frames = video.decode(path, LIMITS).frames
    np.testing.assert_allclose(frames.times_s, np.arange(6) / 10, atol=0.002)
    if whole:  # MP4 says with an edit list which frames are hidden; Matroska drops their times
        np.testing.assert_allclose(brightness(frames), np.linspace(4 / 9, 1, 6), atol=0.03)


@pytest.mark.parametrize("bf", ["0", "3"])
@pytest.mark.parametrize("g", ["5", "25", "1000"])
def test_a_chosen_frame_is_right_wherever_the_keyframes_are(tmp_path, g, bf):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(200), rate=25, g=g, bf=bf)
    frames = video.decode(path, LIMITS).frames
    assert len(frames.images) == 16
    assert np.diff(frames.times_s).max() < 1.6 * 7.96 / 15
    assert_is_ramp(frames, 7.96)


def test_only_packets_near_chosen_frames_are_decoded(tmp_path, monkeypatch):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(600), rate=20, g="10", bf="0")
    fed = 0
    original = video.FrameReader._decode

    def counting(reader, packet):
        nonlocal fed
        fed += 1
        return original(reader, packet)

    monkeypatch.setattr(video.FrameReader, "_decode", counting)
    frames = video.decode(path, LIMITS).frames
    assert len(frames.images) == 16
    assert fed < 200


def test_fewer_frames_are_taken_when_asked(tmp_path):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(30))
    for count, times in [(1, [1.4]), (2, [0, 2.9]), (4, [0, 1, 1.9, 2.9])]:
        limits = MediaLimits(300, 600, 10**9, max_frames=count)
        frames = video.decode(path, limits).frames
        np.testing.assert_allclose(frames.times_s, times, atol=0.11)


# Upright (fault A09)


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("name", ["a.mp4", "a.mov", "a.mkv"])
def test_red_is_on_top_however_the_phone_was_held(tmp_path, name, degrees, mirror):
    upright = clips.halves(64, 48)
    upright[:24, :16] = clips.GREEN
    # The file holds the picture as the sensor saw it, and the turn that sets it upright; the
    # mirror comes after the turn.
    stored = np.rot90(upright[:, ::-1] if mirror else upright, -degrees // 90)
    path = clips.write_video(
        tmp_path / name,
        [np.ascontiguousarray(stored)] * 3,
        prepare=lambda stream: stream.set_display_rotation(degrees, hflip=mirror),
        crf="1",
    )
    image = video.decode(path, LIMITS).frames.images[0]
    assert image.shape == (48, 64, 3)
    np.testing.assert_allclose(image[4, 4], clips.GREEN, atol=40)
    np.testing.assert_allclose(image[4, -4], clips.RED, atol=40)
    np.testing.assert_allclose(image[-4, 4], clips.BLUE, atol=40)


def test_wide_pixels_are_shown_wide(tmp_path):
    def prepare(stream):
        stream.codec_context.sample_aspect_ratio = 2

    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(2), prepare=prepare)
    assert video.decode(path, LIMITS).frames.images.shape == (2, 48, 128, 3)


# Sound track (fault A10)


def test_a_video_without_sound_says_so(tmp_path):
    decoded = video.decode(clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(5)), LIMITS)
    assert decoded.audio is None
    assert decoded.sound_notices == NO_SOUND


@pytest.mark.parametrize(
    ("name", "options"), [("a.mp4", {}), ("a.webm", {"codec": "libvpx", "kind": "webm"})]
)
def test_the_sound_of_a_video_is_kept(tmp_path, name, options):
    sound = clips.tone(2.0, 48_000)
    path = clips.write_video(tmp_path / name, clips.grey_ramp(20), sound=sound, **options)
    decoded = video.decode(path, LIMITS)
    assert decoded.sound_notices == ()
    assert decoded.audio.sample_rate == 16_000
    assert decoded.audio.duration_s == pytest.approx(2.0, rel=0.015)
    assert np.abs(decoded.audio.samples[8_000:24_000]).max() == pytest.approx(0.5, rel=0.06)


def test_sound_too_short_for_a_word_is_left_out_with_a_notice(tmp_path):
    path = clips.write_video(tmp_path / "a.mkv", clips.grey_ramp(5), sound=clips.tone(0.02, 48_000))
    decoded = video.decode(path, LIMITS)
    assert decoded.audio is None
    assert decoded.sound_notices == ("The sound of this video is too short to hold a word.",)


def test_sound_in_an_unknown_codec_does_not_cost_the_pictures(tmp_path):
    path = clips.write_video(
        tmp_path / "a.webm",
        clips.grey_ramp(5),
        codec="libvpx",
        kind="webm",
        sound=clips.tone(1, 48_000),
    )
    path.write_bytes(path.read_bytes().replace(b"A_OPUS", b"A_SOAP"))
    decoded = video.decode(path, LIMITS)
    assert decoded.audio is None
    assert decoded.sound_notices == ("The sound of this video could not be read.",)
    assert len(decoded.frames.images) == 5


def test_a_recording_sent_as_a_video_is_pointed_to_the_right_place(tmp_path):
    path = clips.write_sound(tmp_path / "a.m4a", clips.tone(1, 48_000), 48_000, "aac", kind="ipod")
    refused = refusal(path)
    assert refused.code == "video_no_pictures"
    assert "Send it as a recording" in refused.message


# Short and odd clips (fault A11)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
@pytest.mark.parametrize(
    ("name", "options"), [("a.mp4", {}), ("a.webm", {"codec": "libvpx", "muxer": {"live": "1"}})]
)
def test_a_clip_of_few_frames_gives_those_it_has(tmp_path, name, options, count):
    path = clips.write_video(tmp_path / name, clips.grey_ramp(count), **options)
    frames = video.decode(path, LIMITS).frames
    assert len(frames.images) == count
    np.testing.assert_allclose(frames.times_s, np.arange(count) / 10, atol=0.01)
    assert frames.duration_s == pytest.approx(count / 10, abs=0.05)


@pytest.mark.parametrize(
    ("width", "height", "shape"),
    [
        (2, 2, (2, 2)),
        (17, 33, (33, 17)),
        (641, 361, (360, 640)),
        (640, 360, (360, 640)),
        (360, 720, (640, 320)),
        (1280, 16, (8, 640)),
    ],
)
def test_any_size_is_scaled_to_the_long_side(tmp_path, width, height, shape):
    path = clips.write_video(tmp_path / "a.mp4", [clips.halves(width, height)] * 2)
    frames = video.decode(path, LIMITS).frames
    assert frames.images.shape == (2, *shape, 3)
    if min(shape) > 2:  # two pixels share one colour
        assert_red_over_blue(frames.images[0])


def test_a_video_that_changes_its_size_keeps_one_frame_size(tmp_path):
    paths = [
        clips.write_video(
            tmp_path / f"{name}.avi", [clips.halves(*size)] * 2, codec="mjpeg", strict="unofficial"
        )
        for name, size in (("wide", (64, 48)), ("tall", (48, 64)))
    ]
    joined = tmp_path / "joined.mkv"
    with av.open(str(joined), "w") as output:
        stream = None
        for index, path in enumerate(paths):
            with av.open(str(path)) as source:
                stream = stream or output.add_stream_from_template(source.streams.video[0])
                for packet in source.demux(video=0):
                    if packet.size:
                        packet.pts = packet.dts = packet.pts + 2 * index
                        packet.stream = stream
                        output.mux(packet)
    images = video.decode(joined, LIMITS).frames.images
    assert images.shape == (4, 48, 64, 3)
    assert images[3, :, :10].max() < 20, "black beside the tall picture"
    assert images[3, 4, 32, 0] > 200, "red on its top"


# Limits (fault A12)


def test_a_video_over_the_limit_is_refused_with_both_lengths(tmp_path):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(70), rate=1)
    refused = refusal(path, MediaLimits(300, max_video_s=60, max_bytes=10**9))
    assert refused.code == "video_too_long"
    assert refused.message == "This video is 1 min 10 s long; the limit is 1 min."


def test_a_sound_track_longer_than_the_limit_is_refused_too(tmp_path):
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(5), sound=clips.tone(9, 48_000))
    assert refusal(path, MediaLimits(300, max_video_s=5, max_bytes=10**9)).code == "video_too_long"


def test_a_file_over_the_limit_on_bytes_is_refused_with_the_limit(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(bytes(1_000_001))
    refused = refusal(path, MediaLimits(300, 600, max_bytes=1_000_000))
    assert refused.code == "video_too_large"
    assert refused.message == "This video is a file of 1.1 MB; the limit is 1 MB."


def test_frames_of_absurd_size_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "_MAX_PIXELS", 1000)
    path = clips.write_video(tmp_path / "a.mp4", clips.grey_ramp(2))
    refused = refusal(path)
    assert refused.code == "video_too_many_pixels"
    assert "64 x 48 pixels" in refused.message


MEASURE = """
import resource, sys
from pathlib import Path
from backend.media import video
from backend.media.limits import MediaLimits

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

limits = MediaLimits(300, 600, 10**9)
before = peak()
frames = video.decode(Path(sys.argv[1]), limits).frames
print(peak() - before, len(frames.images))
"""


@pytest.mark.parametrize(
    ("count", "size", "whole_mb", "bound_mb"),
    [(480, (854, 480), 590, 120), (20, (3840, 2160), 498, 250)],
    ids=["two minutes of 480p", "4K"],
)
def test_a_long_or_large_video_does_not_eat_the_memory(tmp_path, count, size, whole_mb, bound_mb):
    picture = clips.halves(*size)
    path = clips.write_video(
        tmp_path / "a.mp4", (picture for _ in range(count)), rate=4, preset="ultrafast", g="50"
    )
    assert count * picture.nbytes / 1e6 == pytest.approx(whole_mb, rel=0.01)
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", MEASURE, str(path)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    used_mb, frames = result.stdout.split()
    assert frames == "16"
    assert float(used_mb) < bound_mb


# Damage and strangers


def cut(path, share):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def test_a_video_that_breaks_off_is_used_with_a_notice(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (60, 48, 64, 3), np.uint8)
    path = clips.write_video(tmp_path / "a.mkv", noise, g="10")
    cut(path, 0.5)
    decoded = video.decode(path, LIMITS)
    assert 1 < decoded.frames.duration_s < 5
    assert any("breaks off after" in notice and "of 6 s" in notice for notice in decoded.notices)


@pytest.mark.parametrize("content", [b"", b"hello", bytes(5000), b"GIF89a" + bytes(900)])
def test_other_files_are_refused_with_the_accepted_kinds(tmp_path, content):
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    refused = refusal(path)
    assert refused.code == "video_unreadable"
    for kind in ("MP4", "MOV", "WebM", "MKV", "AVI"):
        assert kind in refused.message


def test_missing_and_unsuitable_paths_are_refused_alike(tmp_path):
    text = tmp_path / "text"
    text.write_text("root:x:0:0")
    for path in (text, tmp_path / "missing", tmp_path):
        assert refusal(path).message == refusals.unreadable(Field.VIDEO).message


@pytest.mark.parametrize("seed", range(8))
def test_damaged_bytes_are_decoded_or_refused_and_never_crash(tmp_path, seed):
    write = partial(clips.write_video, pictures=clips.grey_ramp(10), sound=clips.tone(1, 48_000))
    path = write(tmp_path / "a.mp4")
    random = np.random.default_rng(seed)
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    data[random.integers(0, len(data), 40)] = random.integers(0, 256, 40)
    path.write_bytes(data.tobytes())
    with suppress(TurnRefused):
        assert len(video.decode(path, LIMITS).frames.images) >= 1
