"""The engine over HTTP: how it is, and another pipeline in its place."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager

import httpx
import pytest
from fastapi import FastAPI

from backend.contract.engine import EngineState
from backend.runtime.engine_thread import EngineThread
from backend.speech_api.engine_routes import make_engine_router
from backend.speech_api.errors import answer_errors
from tests.scripted_engine import ScriptedEngine
from tests.serving import run_app


@contextmanager
def served(makers, *, may_switch=True):
    thread = EngineThread(makers)

    @asynccontextmanager
    async def run_engine(_app):
        thread.start()
        yield
        thread.close()

    app = FastAPI(lifespan=run_engine)
    app.include_router(make_engine_router(thread, may_switch=may_switch))
    answer_errors(app)
    with run_app(app) as url, httpx.Client(base_url=url, timeout=30) as http:
        yield thread, http


TWO = {"one": ScriptedEngine, "two": ScriptedEngine}


def choose(http, pipeline, **options):
    return http.post("/v1/engine", json={"pipeline": pipeline}, **options)


async def test_it_tells_how_the_engine_is_and_what_can_be_chosen(until):
    with served(TWO) as (thread, http):
        await until(lambda: thread.status.state is EngineState.READY)
        answer = await asyncio.to_thread(http.get, "/v1/engine")
        assert answer.json() == {
            "state": "ready",
            "message": "",
            "progress": 1.0,
            "engine": "scripted",
            "pipeline": "one",
            "pipelines": ["one", "two"],
            "may_switch": True,
        }


async def test_a_chosen_pipeline_is_loaded(until):
    with served({"one": ScriptedEngine, "two": lambda: ScriptedEngine(load_s=0.3)}) as (
        thread,
        http,
    ):
        await until(lambda: thread.status.state is EngineState.READY)
        answer = await asyncio.to_thread(choose, http, "two")
        assert answer.status_code == 202
        told = answer.json()
        assert (told["state"], told["pipeline"], told["engine"]) == ("loading", "two", "")
        await until(lambda: thread.status.state is EngineState.READY)
        assert (await asyncio.to_thread(http.get, "/v1/engine")).json()["pipeline"] == "two"


@pytest.mark.parametrize(
    ("makers", "words"), [(TWO, "one, two"), (ScriptedEngine, "none were set up with --pipelines")]
)
def test_a_name_that_is_not_there_is_refused_beside_its_field(makers, words):
    with served(makers) as (_, http):
        answer = choose(http, "three")
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == ("pipeline_unknown", "pipeline")
    assert words in error["message"]


def test_where_it_is_forbidden_nothing_changes():
    with served(TWO, may_switch=False) as (thread, http):
        answer = choose(http, "two")
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "switching_forbidden"
        assert http.get("/v1/engine").json()["may_switch"] is False
        assert thread.status.pipeline == "one"


def test_pages_of_other_sites_are_refused():
    with served(TWO) as (thread, http):
        answer = choose(http, "two", headers={"Origin": "https://elsewhere.example"})
        assert answer.status_code == 403
        assert thread.status.pipeline == "one"
