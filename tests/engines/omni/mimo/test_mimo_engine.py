"""The engine on MiMo-Audio: it takes tasks and nothing else, and other pipelines take none."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.contract.errors import EngineFailed, TurnRefused
from backend.contract.events import ReplyText, SpeechChunk
from backend.contract.tasks import MAX_REPLY_TOKENS as LONGEST
from backend.contract.tasks import PHRASES, TASKS, TaskRequest
from backend.contract.turn import Turn, TurnSettings
from backend.engines.omni.engine import OmniEngine
from backend.engines.omni.launch import Launch
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.warm_up import warm_up
from tests.engines.omni.mimo.scripted_omni import (
    Params,
    ScriptedOmni,
    groups,
    pipeline,
    sounded,
    wrote,
)

SAY = TaskRequest("tts_sft", text="Hello there.")


@pytest.fixture
def omni():
    """Speaks two words; ``omni.ill`` says whether a stage is dead."""
    omni = ScriptedOmni(wrote("Hello there."), groups(2), wrote("", finish="stop"), sounded(2))
    omni.ill = False

    async def check_health() -> None:
        if omni.ill:
            raise RuntimeError("dead")

    omni.check_health = check_health
    return omni


@pytest.fixture
def engine(omni):
    engine = OmniEngine(Launch(Path("none.yaml")))
    engine._omni = omni
    engine._pipeline = pipeline(omni)
    engine._capabilities = engine._pipeline.describe()
    return engine


async def told(engine: OmniEngine, **turn: object) -> list[object]:
    return [event async for event in engine.run(Turn("session", 0, **turn))]


async def test_a_task_is_worked_on(engine):
    events = await told(engine, task=SAY)
    assert "".join(e.delta for e in events if isinstance(e, ReplyText)) == "Hello there."
    assert len([e for e in events if isinstance(e, SpeechChunk)]) == 1


async def test_the_longest_reply_and_the_last_wording_are_taken(engine, omni):
    settings = TurnSettings(max_reply_tokens=LONGEST)
    await told(engine, task=replace(SAY, phrase=PHRASES - 1), settings=settings)
    assert len(omni.sent) == 1


def test_all_ten_tasks_are_offered(engine):
    assert engine.capabilities.tasks == tuple(TASKS)
    assert engine.capabilities.no_other_tasks == ""
    assert engine.capabilities.max_concurrent_turns == 2


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ({"text": "Who are you?"}, "only_tasks"),
        ({"script": "Hello."}, "no_recital"),
        ({"task": TaskRequest("sing")}, "unknown_task"),
        ({"task": TaskRequest("tts_sft", "loud", text="Hi")}, "unknown_variant"),
        ({"task": SAY, "settings": TurnSettings(max_reply_tokens=0)}, "reply_tokens"),
        ({"task": SAY, "settings": TurnSettings(max_reply_tokens=LONGEST + 1)}, "reply_tokens"),
        ({"task": replace(SAY, phrase=PHRASES)}, "unknown_phrase"),
        ({"task": SAY, "settings": TurnSettings(seed=-1)}, "seed"),
    ],
)
async def test_what_is_no_task_or_out_of_bounds_reaches_no_model(engine, omni, turn, code):
    with pytest.raises(TurnRefused) as refusal:
        await told(engine, **turn)
    assert refusal.value.code == code
    assert omni.sent == []


async def test_a_stage_that_dies_while_it_works_fails_the_engine(engine, omni):
    async def die(number: int) -> None:
        omni.ill = True
        raise RuntimeError("EngineDeadError")

    omni.before = die
    with pytest.raises(Exception, match="Try again"):
        await told(engine, task=SAY)
    with pytest.raises(EngineFailed):
        await engine.health()


async def test_a_task_of_an_engine_that_is_closed_for_another_ones_sake_ends_at_once(engine, omni):
    omni.before = lambda number: asyncio.Event().wait()
    omni.shutdown = omni.sweep = lambda: None
    turn = asyncio.create_task(told(engine, task=SAY))
    await asyncio.sleep(0.05)
    await engine.close()
    with pytest.raises(EngineFailed):
        await asyncio.wait_for(turn, 5)
    assert omni.running == set()


async def test_warming_up_reads_a_clip_thinks_and_makes_sound(omni):
    await warm_up(pipeline(omni))
    [sent] = omni.sent
    assert sent.prompt["multi_modal_data"]["audio"]
    assert sent.ends_with == ["text", "audio"]
    assert sent.params[0]["max_tokens"] < 50


def launched(omni: ScriptedOmni, monkeypatch, tmp_path, sampling: dict) -> MimoPipeline:
    kinds = SimpleNamespace(RequestOutputKind=SimpleNamespace(DELTA="delta"))
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", kinds)
    deploy = tmp_path / "mimo.yaml"
    deploy.write_text("pipeline: mimo_audio")
    launch = Launch(deploy, sampling=sampling)
    launch._profile = SimpleNamespace(pipeline="mimo_audio")
    omni.default_sampling_params_list = [Params(temperature=0.6), Params(temperature=0.0)]
    stage = omni.engine.stage_vllm_configs[0]
    stage.model_config = SimpleNamespace(max_model_len=4096)
    return launch.pipeline(omni)


def test_the_deploy_files_pipeline_tells_it_from_others_with_two_stages(
    omni, monkeypatch, tmp_path
):
    made = launched(omni, monkeypatch, tmp_path, {"think": {"repetition_penalty": 1.0}})
    assert isinstance(made, MimoPipeline)
    assert made.context == 4096
    assert [params["output_kind"] for params in made._params] == ["delta", "delta"]


def test_its_stages_have_their_names_in_the_settings(omni, monkeypatch, tmp_path):
    made = launched(omni, monkeypatch, tmp_path, {"sound": {"temperature": 0.5}})
    assert made._params[1]["temperature"] == 0.5
    with pytest.raises(ValueError, match="no stage speak"):
        launched(omni, monkeypatch, tmp_path, {"speak": {"temperature": 0.5}})
