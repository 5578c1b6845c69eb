"""Voices with Qwen3-TTS alone: text → first sound, and how fast the sound is made.

Both kinds of voice, each from a checkpoint of its own: copied from a clip of 3 s and its words
(Base; a clip that is new to the model, and one that it has copied before), and a speaker of the
model (CustomVoice). Every request speaks one sentence, in 6 s, and all of a round come at the
same moment. Three ways, timed from the plain text and the voice on:

- ``bare``: ``AsyncOmni.generate`` on this project's deploy file.
- ``engine``: turns with a script through this project's engine thread.
- ``stock`` (with ``--stock``): ``AsyncOmni`` on the deploy file that comes with vLLM-Omni.

The first two share one start of the same processes, and take turns round by round; each checkpoint
and stock have starts of their own. With ``--dummy`` the models have the shapes of the real ones
(1.7B) and random weights: times are those of the real models, words are not, and the sentence has
74 tokens where a real tokenizer makes about 25. ``--tiny`` tries all of it on a CPU.

Run ``python -m bench.voices --dummy --stock --machine "one H200"``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import soundfile
import yaml

from backend.contract.media import AudioClip
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceSpec
from backend.engines.omni.launch import Launch
from backend.engines.omni.sampling import stage_params
from backend.engines.omni.voice_fields import as_data_uri
from backend.runtime.engine_thread import EngineThread
from bench.omni_first_sound import QUESTION, RESULTS, ROOT
from bench.omni_running import running
from bench.spoken_report import Report
from bench.took import Took, numbers, time_events, time_outputs

if TYPE_CHECKING:
    from vllm_omni.entrypoints.async_omni import AsyncOmni

PROFILE = ROOT / "deploy" / "qwen3_tts_80gb.yaml"
TEXT = (
    "The ferry leaves from the old harbour at half past seven in the morning"
    " and comes back before the evening."
)
CLIP_TEXT = "What is the largest ocean on Earth?"
VOICES = {"Base": ("new clip", "known clip"), "CustomVoice": ("speaker",)}
CODEC_FRAMES = 75
DEPLOY = {
    "bare, engine": "deploy/qwen3_tts_80gb.yaml: graphs for decoding alone, no torch.compile",
    "stock": "vLLM-Omni's own qwen3_tts.yaml: torch.compile, the second model runner",
}
SAMPLING = {"speak": {"max_tokens": CODEC_FRAMES + 1, "min_tokens": CODEC_FRAMES + 1}}
Ask = Callable[[VoiceSpec], Awaitable[Took]]
_new_clip = itertools.count(1)


def main() -> None:
    """Measure, print a table as it grows, and write JSON and a plot."""
    options = _options()
    report = Report(
        options.out / "voices", "Qwen3-TTS 1.7B", options.machine, DEPLOY, dummy=options.dummy
    )
    with tempfile.TemporaryDirectory() as folder:
        for measure in (_engine_and_bare, _stock)[: 1 + options.stock]:
            for kind in options.kinds:
                asyncio.run(measure(kind, Path(folder), options, report))


async def _engine_and_bare(
    kind: str, folder: Path, options: argparse.Namespace, report: Report
) -> None:
    deploy = _deploy(PROFILE, kind, folder, options)
    async with running(Launch(deploy, sampling=SAMPLING)) as ready:
        report.started(f"{kind}, bare and engine", ready.start_s)
        omni = ready.engine.pipeline.omni

        async def ask_bare(voice: VoiceSpec) -> Took:
            return await ready.on_loop(_ask_bare(omni, kind, voice))

        ways = {"bare": ask_bare, "engine": partial(_ask_engine, ready.thread)}
        await _measure(kind, ways, options, report)


async def _stock(kind: str, folder: Path, options: argparse.Namespace, report: Report) -> None:
    spec = find_spec("vllm_omni")
    [package] = spec.submodule_search_locations if spec else []
    deploy = _deploy(Path(package) / "deploy" / "qwen3_tts.yaml", kind, folder, options)
    from vllm_omni.entrypoints.async_omni import AsyncOmni

    began = time.monotonic()
    omni = AsyncOmni(
        model=_model(kind, folder, options),
        deploy_config=str(deploy),
        stage_init_timeout=900,
        init_timeout=1800,
    )
    try:
        report.started(f"{kind}, stock", time.monotonic() - began)
        await _measure(kind, {"stock": partial(_ask_bare, omni, kind)}, options, report)
    finally:
        omni.shutdown()


async def _measure(
    kind: str, ways: Mapping[str, Ask], options: argparse.Namespace, report: Report
) -> None:
    for voice, requests in itertools.product(VOICES[kind], options.requests):
        took: dict[str, list[Took]] = {way: [] for way in ways}
        for round_ in range(1 + options.rounds * max(1, 4 // requests)):
            for way, ask in ways.items():
                voices = [_voice(voice) for _ in range(requests)]
                done = await asyncio.gather(*map(ask, voices))
                if round_:  # the first one warms this shape up, and makes a clip known
                    took[way] += done
        for way, mine in took.items():
            report.add(way, f"{kind}, {voice}", requests, mine)


async def _ask_engine(thread: EngineThread, voice: VoiceSpec) -> Took:
    turn = Turn(uuid4().hex, 0, script=TEXT, settings=TurnSettings(voice=voice))
    began = time.perf_counter()
    return await time_events(began, thread.submit(turn))


async def _ask_bare(omni: AsyncOmni, kind: str, voice: VoiceSpec) -> Took:
    params = stage_params(omni.default_sampling_params_list, SAMPLING)
    given = _given(voice)
    began = time.perf_counter()
    outputs = omni.generate(
        await asyncio.to_thread(_request, omni, kind, given),
        request_id=uuid4().hex,
        sampling_params_list=params,
        output_modalities=["audio"],
    )
    return await time_outputs(began, outputs)


def _given(voice: VoiceSpec) -> dict[str, Any]:
    """The voice as a client of vLLM-Omni's own server has it at hand."""
    clip = voice.reference_audio
    if clip is None:
        return {"speaker": [voice.speaker]}
    return {
        "ref_audio": [as_data_uri(clip)],
        "ref_text": [voice.reference_text],
        "x_vector_only_mode": [False],
        "ref_code_length": [int(np.ceil(clip.duration_s * 12.5))],
    }


def _request(omni: AsyncOmni, kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """A request as vLLM-Omni's own server makes it."""
    from vllm_omni.model_executor.models.qwen3_tts.prompt_embeds_builder import (
        Qwen3TTSPromptEmbedsBuilder,
    )

    fields = {"text": [TEXT], "task_type": [kind], "language": ["English"], "instruct": [""]}
    fields |= {"max_new_tokens": [2048], **given}
    talker = omni.engine.stage_vllm_configs[0].model_config.hf_config.talker_config
    tokenizer = omni.engine.output_processors[0].tokenizer
    length = Qwen3TTSPromptEmbedsBuilder.estimate_prompt_len_from_additional_information(
        additional_information=fields,
        task_type=kind,
        tokenize_prompt=lambda text: tokenizer(text, padding=False)["input_ids"],
        codec_language_id=talker.codec_language_id,
        spk_is_dialect=talker.spk_is_dialect,
    )
    return {"prompt_token_ids": [1] * length, "additional_information": fields}


def _voice(voice: str) -> VoiceSpec:
    if voice == "speaker":
        return VoiceSpec(speaker="Vivian", language="en")
    samples, rate = soundfile.read(QUESTION, dtype="float32")
    noise = np.random.default_rng(next(_new_clip) if voice == "new clip" else 0)
    samples = (samples + noise.normal(0, 1e-3, len(samples))).astype(np.float32)
    clip = AudioClip(samples, rate)
    return VoiceSpec(reference_audio=clip, reference_text=CLIP_TEXT, language="en")


def _deploy(profile: Path, kind: str, folder: Path, options: argparse.Namespace) -> Path:
    """The profile on the models of this kind."""
    model = _model(kind, folder, options)
    if options.tiny:
        from tests.tiny_models import write_speech_deploy

        places = max(options.requests)
        return write_speech_deploy(folder / "tiny.yaml", Path(model), max_num_seqs=places)
    weights = {"load_format": "dummy"} if options.dummy else {}
    stages = [{"stage_id": stage, "model": model, **weights} for stage in (0, 1)]
    deploy = folder / f"{profile.stem}-{kind}.yaml"
    built_on = {"base_config": str(profile), "pipeline": "qwen3_tts"}
    deploy.write_text(yaml.safe_dump({**built_on, "stages": stages}))
    return deploy


def _model(kind: str, folder: Path, options: argparse.Namespace) -> str:
    if not (options.dummy or options.tiny):
        return f"Qwen/Qwen3-TTS-12Hz-1.7B-{kind}"
    from tests.tiny_models import Size, write_tts

    return str(write_tts(folder / kind, kind, Size.TINY if options.tiny else Size.FULL))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dummy", action="store_true", help="full size, random weights")
    parser.add_argument("--tiny", action="store_true", help="tiny size, for a CPU")
    parser.add_argument("--stock", action="store_true", help="vLLM-Omni's own deploy file too")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--requests", type=numbers, default=[1, 8, 16])
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(VOICES))
    parser.add_argument("--machine", default="unnamed machine")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
