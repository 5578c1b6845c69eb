"""MiMo-Audio speaks a text: → first text → first sound, and how fast the sound is made.

Sound in pieces of 6, 10 and 30 groups of 160 ms, each in a start of its own, for vLLM-Omni reads
their length only then; one request, and several that come at the same moment. Two ways, which take
turns round by round in the same processes, timed from the plain text on:

- ``bare``: ``AsyncOmni.generate``.
- ``engine``: tasks through this project's engine thread.

With ``--dummy`` the model and its audio tokenizer have the shapes of the real ones and random
weights. Those never choose to sound, so what they say is scripted: 25 tokens of words and 38 groups
of sound, woven as the real model does; all that is calculated is what the real one calculates.
``--tiny`` tries all of it on a CPU.

Run ``python -m bench.mimo --dummy --machine "one H200"``.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import yaml

from backend.contract.tasks import TaskRequest
from backend.contract.turn import Turn
from backend.engines.omni.doctor.stage_plan import MIMO, PIPELINES
from backend.engines.omni.launch import Launch
from backend.engines.omni.mimo.tokens import GROUP_S
from backend.engines.omni.sampling import stage_params
from bench.omni_first_sound import RESULTS, ROOT
from bench.omni_running import Running, running
from bench.spoken_report import Report
from bench.took import Took, numbers, time_events, time_outputs

if TYPE_CHECKING:
    from vllm_omni.entrypoints.async_omni import AsyncOmni

PROFILE = ROOT / "deploy" / "mimo_audio.yaml"
DEPLOY = {"bare, engine": f"deploy/{PROFILE.name}, with other lengths of a piece"}
TEXT = "The ferry leaves at 7:38."
"""Scripted, the last number is how many groups of sound there are: of no piece a multiple, for
vLLM-Omni would send the last piece of such a reply twice."""

PROMPT = (
    f"<|im_start|>user\nPlease read this text aloud: {TEXT}<|im_end|>\n"
    "<|im_start|>assistant\n<|sostm|>"
)
STAGES = [role.value for role in PIPELINES[MIMO]]


@dataclass(frozen=True, slots=True)
class Models:
    """What is started: a deploy file, and an audio tokenizer instead of the file's."""

    deploy: Path
    tokenizer: str = ""


def main() -> None:
    """Measure, print a table as it grows, and write JSON and a plot."""
    options = _options()
    report = Report(
        options.out / "mimo", "MiMo-Audio 7B", options.machine, DEPLOY, dummy=options.dummy
    )
    with tempfile.TemporaryDirectory() as folder:
        models = _models(Path(folder), options)
        for groups in options.groups:
            asyncio.run(_measure(groups, models, options, report))


async def _measure(
    groups: int, models: Models, options: argparse.Namespace, report: Report
) -> None:
    pieces = f"pieces of {groups * GROUP_S:.2f} s"
    launch = Launch(models.deploy, tokenizer=models.tokenizer, sound_groups=groups)
    async with running(launch) as ready:
        report.started(pieces, ready.start_s)
        for requests in options.requests:
            took = await _side_by_side(ready, requests, options.rounds)
            for way, mine in took.items():
                report.add(way, pieces, requests, mine)


async def _side_by_side(ready: Running, requests: int, rounds: int) -> dict[str, list[Took]]:
    ways = {"bare": partial(_ask_bare, ready), "engine": partial(_ask_engine, ready)}
    took: dict[str, list[Took]] = {way: [] for way in ways}
    for round_ in range(1 + rounds * max(1, 4 // requests)):
        for way, ask in ways.items():
            done = await asyncio.gather(*(ask() for _ in range(requests)))
            if round_:  # the first one warms this shape up
                took[way] += done
    return took


async def _ask_engine(ready: Running) -> Took:
    turn = Turn(uuid4().hex, 0, task=TaskRequest("tts_sft", text=TEXT))
    began = time.perf_counter()
    return await time_events(began, ready.thread.submit(turn))


async def _ask_bare(ready: Running) -> Took:
    return await ready.on_loop(_generate(ready.engine.pipeline.omni))


async def _generate(omni: AsyncOmni) -> Took:
    params = stage_params(omni.default_sampling_params_list, {}, STAGES)
    began = time.perf_counter()
    outputs = omni.generate(
        {"prompt": PROMPT},
        request_id=uuid4().hex,
        sampling_params_list=params,
        output_modalities=["text", "audio"],
    )
    return await time_outputs(began, outputs, writer=0)


def _models(folder: Path, options: argparse.Namespace) -> Models:
    if not (options.dummy or options.tiny):
        return Models(PROFILE)
    from tests.tiny_models import Size, write_mimo_deploy, write_mimo_models
    from tests.tiny_models.mimo import SCRIPTED_WORKER

    if options.tiny:
        tiny = write_mimo_models(folder)
        return Models(
            write_mimo_deploy(folder / "tiny.yaml", tiny), tokenizer=str(tiny.audio_tokenizer)
        )
    full = write_mimo_models(folder, Size.FULL)
    made_up = {"model": str(full.model), "load_format": "dummy"}
    stages = [{"stage_id": 0, **made_up, "worker_cls": SCRIPTED_WORKER}, {"stage_id": 1, **made_up}]
    deploy = folder / "dummy.yaml"
    deploy.write_text(yaml.safe_dump({"base_config": str(PROFILE), "stages": stages}))
    return Models(deploy, tokenizer=str(full.audio_tokenizer))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dummy", action="store_true", help="full size, random weights")
    parser.add_argument("--tiny", action="store_true", help="tiny size, for a CPU")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--requests", type=numbers, default=[1, 4])
    parser.add_argument("--groups", type=numbers, default=[6, 10, 30])
    parser.add_argument("--machine", default="unnamed machine")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
