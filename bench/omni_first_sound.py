"""First sound of the omni engine: request → first text → first sound → all sound.

Two ways through the same four processes, side by side, one after the other in each round: the
bare ``AsyncOmni.generate``, one request through all stages as vLLM-Omni runs a turn, and this
project's engine, which reads the pictures while it hears and speaks sentence by sentence.

With ``--dummy`` the models have the shapes of the real ones (Qwen3-ASR 1.7B, Qwen3-VL 8B,
Qwen3-TTS 1.7B) and random weights: times are those of the real models, words are not. A reply has
40 tokens, a piece that is spoken by itself has about eight, and speech 2.5 codec frames a token.

Run ``python -m bench.omni_first_sound --dummy --machine "one H200"``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import soundfile
import yaml

from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Turn, TurnSettings
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.launch import Launch
from backend.engines.omni.pictures import vision_input
from backend.engines.omni.prompts import hearing_prompt, system_with_history
from backend.engines.omni.sampling import for_reply, stage_params
from bench.took import Took, numbers, p95, plot_first_sound, time_events, time_outputs

if TYPE_CHECKING:
    from vllm_omni.entrypoints.async_omni import AsyncOmni

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results"
PROFILE = ROOT / "deploy" / "aura_80gb.yaml"
QUESTION = ROOT / "assets" / "question.wav"
REPLY_TOKENS = 40
FRAMES_A_TOKEN = 2.5
SENTENCE_TOKENS = 8
HEARD_TOKENS = 16
WAYS = ("bare", "engine")


def main() -> None:
    """Measure, print a table as it grows, and write JSON and a plot."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        deploy = options.deploy_config or _dummy_deploy(Path(folder))
        asyncio.run(_measure(options, deploy))


async def _measure(options: argparse.Namespace, deploy: Path) -> None:
    began = time.monotonic()
    engine = OmniEngine(Launch(deploy, sampling=_sampling(bare=False)))
    await engine.load(lambda *_: None)
    start_s = time.monotonic() - began
    print(f"engine ready in {start_s:.0f} s", flush=True)
    rows = []
    try:
        for frames, sessions in itertools.product(options.frames, options.sessions):
            for way, took in (await _side_by_side(engine, sessions, frames, options)).items():
                rows.append(_row(way, sessions, frames, took))
                print(_line(rows[-1]), flush=True)
                _write(options, rows, start_s)
    finally:
        await engine.close()


async def _side_by_side(
    engine: OmniEngine, sessions: int, frames: int, options: argparse.Namespace
) -> dict[str, list[Took]]:
    took: dict[str, list[Took]] = {way: [] for way in WAYS}
    for round_ in range(options.rounds + 1):
        for way in WAYS:
            ask = _ask_bare if way == "bare" else _ask_engine
            turns = [_turn(frames, round_, n) for n in range(sessions)]
            done = await asyncio.gather(*(ask(engine, turn) for turn in turns))
            if round_:  # the first one warms this shape up
                took[way] += done
    return took


async def _ask_engine(engine: OmniEngine, turn: Turn) -> Took:
    return await time_events(time.perf_counter(), engine.run(turn))


async def _ask_bare(engine: OmniEngine, turn: Turn) -> Took:
    pipeline, omni = engine.pipeline, engine.pipeline.omni
    prompt = _bare_prompt(turn, pipeline.voice(turn))
    params = for_reply(_bare_params(omni), REPLY_TOKENS)
    began = time.perf_counter()
    outputs = omni.generate(
        prompt,
        request_id=f"bare-{turn.id}",
        sampling_params_list=params,
        output_modalities=["text", "audio"],
    )
    return await time_outputs(began, outputs)


def _bare_prompt(turn: Turn, voice: dict[str, Any]) -> dict[str, Any]:
    assert turn.audio is not None  # noqa: S101
    seen = vision_input(turn.frames) if turn.frames is not None else {}
    return {
        "prompt": hearing_prompt(),
        "multi_modal_data": {"audio": (turn.audio.samples, turn.audio.sample_rate)},
        "additional_information": {
            "aura_system_prompt": [system_with_history(turn.settings.system_prompt, ())],
            "deferred_multi_modal_data": seen,
            **voice,
        },
    }


def _bare_params(omni: AsyncOmni) -> list[Any]:
    return stage_params(omni.default_sampling_params_list, _sampling(bare=True))


def _sampling(*, bare: bool) -> dict[str, dict[str, Any]]:
    """Lengths of every stage's output; bare, the talker speaks the whole reply at once."""
    tokens = REPLY_TOKENS if bare else SENTENCE_TOKENS
    frames = round(tokens * FRAMES_A_TOKEN)
    return {
        "hear": {"max_tokens": HEARD_TOKENS, "min_tokens": HEARD_TOKENS},
        "think": {"max_tokens": REPLY_TOKENS, "min_tokens": REPLY_TOKENS, "seed": 7},
        "speak": {"max_tokens": frames + 1, "min_tokens": frames + 1},
    }


def _turn(frames: int, round_: int, number: int) -> Turn:
    """A turn with pictures of its own: nothing of it is in a cache."""
    samples, rate = soundfile.read(QUESTION, dtype="float32")
    noise = np.random.default_rng([round_, number])
    samples = (samples + noise.normal(0, 1e-3, len(samples))).astype(np.float32)
    return Turn(
        session_id=f"bench-{number}",
        generation=round_,
        audio=AudioClip(samples, rate),
        frames=_frames(frames, noise) if frames else None,
        settings=TurnSettings(max_reply_tokens=REPLY_TOKENS),
    )


def _frames(count: int, noise: np.random.Generator) -> VideoFrames:
    """Blurred noise of 640 by 360 that drifts."""
    field = noise.integers(0, 255, (45, 80, 3), dtype=np.uint8)
    images = [cv2.resize(np.roll(field, n, axis=1), (640, 360)) for n in range(count)]
    return VideoFrames(np.stack(images), np.linspace(0, 3, count), 3.2)


def _dummy_deploy(folder: Path) -> Path:
    """The profile for a large card, on random weights of the real shapes."""
    from tests.tiny_models import Size, write_aura_models

    models = write_aura_models(folder, size=Size.FULL)
    stages = (models.asr, models.aura, models.tts, models.tts)
    profile = {
        "base_config": str(PROFILE),
        "stages": [
            {"stage_id": n, "model": str(model), "load_format": "dummy"}
            for n, model in enumerate(stages)
        ],
    }
    deploy = folder / "dummy.yaml"
    deploy.write_text(yaml.safe_dump(profile))
    return deploy


def _row(way: str, sessions: int, frames: int, took: list[Took]) -> dict[str, Any]:
    sounds = [one.sound_s for one in took]
    spoken = sum(one.spoken_s for one in took) / sum(one.total_s for one in took) * sessions
    return {
        "way": way,
        "sessions": sessions,
        "frames": frames,
        "turns": len(took),
        "first_text_p50_s": median(one.text_s for one in took),
        "first_sound_p50_s": median(sounds),
        "first_sound_p95_s": p95(sounds),
        "total_p50_s": median(one.total_s for one in took),
        "sound_per_second": spoken,
        "rtf": sessions / spoken if spoken else 0.0,
        "each": [asdict(one) for one in took],
    }


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['way']:7} {row['sessions']} sessions {row['frames']} frames"
        f"  text {row['first_text_p50_s']:.3f}"
        f"  sound {row['first_sound_p50_s']:.3f} / {row['first_sound_p95_s']:.3f}"
        f"  all {row['total_p50_s']:.3f} s  {row['sound_per_second']:.1f} s/s"
        f"  RTF {row['rtf']:.3f}"
    )


def _write(options: argparse.Namespace, rows: list[dict[str, Any]], start_s: float) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    result = {"machine": options.machine, "dummy": options.dummy, "start_s": start_s, "rows": rows}
    (options.out / "omni_first_sound.json").write_text(json.dumps(result, indent=1) + "\n")
    by_way: dict[str, dict[str, Any]] = {way: {} for way in WAYS}
    for row in rows:
        by_way[row["way"]][f"{row['sessions']} sessions\n{row['frames']} frames"] = row
    title = f"AURA, full size, {options.machine}"
    plot_first_sound(options.out / "omni_first_sound.png", title, by_way)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--deploy-config", type=Path, help="a deploy file with real models")
    parser.add_argument("--dummy", action="store_true", help="full size, random weights")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=numbers, default=[1, 8])
    parser.add_argument("--frames", type=numbers, default=[0, 8])
    parser.add_argument("--machine", default="unnamed machine")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not options.dummy and options.deploy_config is None:
        parser.error("name a --deploy-config, or take --dummy")
    return options


if __name__ == "__main__":
    main()
