"""Environment, command line and .env are the same fields."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from pydantic_settings import CliApp

from backend.engines.choose import chosen, engine_factories
from backend.settings import Settings


def test_a_setting_can_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OMNI_LIVE_PORT", "8123")
    assert Settings(_env_file=None).port == 8123


def test_a_setting_can_come_from_the_command_line():
    settings = CliApp.run(Settings, cli_args=["--port", "8124", "--max-audio-s", "60"])
    assert (settings.port, settings.max_audio_s) == (8124, 60.0)


def test_a_setting_can_come_from_an_env_file(tmp_path):
    file = tmp_path / ".env"
    file.write_text("OMNI_LIVE_HOST=127.0.0.7\n")
    assert Settings(_env_file=file).host == "127.0.0.7"


def test_the_command_line_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("OMNI_LIVE_PORT", "8123")
    assert CliApp.run(Settings, cli_args=["--port", "8124"]).port == 8124


@pytest.mark.parametrize(
    ("name", "value"),
    [("port", 70_000), ("stall_timeout_s", 0), ("max_frames", 0), ("engine", "nonsense")],
)
def test_a_value_out_of_range_is_refused(name, value):
    with pytest.raises(ValidationError):
        Settings(_env_file=None, **{name: value})


@pytest.mark.parametrize(
    "url", ["host:8091", "ftp://host", "http://", "http://host:port", "http://host:99999"]
)
def test_what_is_no_address_of_a_server_is_refused(url):
    with pytest.raises(ValidationError, match="not the address of a server"):
        Settings(_env_file=None, url=url)


def test_the_remote_engine_needs_an_address():
    with pytest.raises(ValidationError, match="needs --url"):
        Settings(_env_file=None, engine="remote")
    asked = ["--engine", "remote", "--url", "http://host:8091", "--remote-speakers", "Vivian,Ryan"]
    settings = CliApp.run(Settings, cli_args=asked)
    assert settings.remote_speakers == ["Vivian", "Ryan"]


def test_a_named_server_is_the_engine():
    assert chosen(Settings(_env_file=None, url="https://host/aura")) == "remote"
    assert chosen(Settings(_env_file=None, engine="embedded", url="http://host:1")) == "embedded"


def test_a_key_is_not_printed():
    assert "secret" not in repr(Settings(_env_file=None, api_key="secret"))


PIPELINES = {
    "AURA": "deploy/aura_omni.yaml",
    "Small": "embedded",
    "Far": "http://host:8091",
}


def test_each_pipeline_runs_as_if_it_were_the_only_one():
    settings = Settings(_env_file=None, pipelines=PIPELINES)
    assert [chosen(settings.of_pipeline(name)) for name in PIPELINES] == [
        "omni",
        "embedded",
        "remote",
    ]
    assert str(settings.of_pipeline("AURA").deploy_config) == "deploy/aura_omni.yaml"
    assert settings.of_pipeline("Far").url == "http://host:8091"


def test_the_first_pipeline_begins_unless_another_is_named():
    assert list(engine_factories(Settings(_env_file=None, pipelines=PIPELINES))) == list(PIPELINES)
    asked = ["--pipelines", '{"Small": "embedded", "Far": "http://h:1"}', "--pipeline", "Far"]
    settings = CliApp.run(Settings, cli_args=asked)
    assert list(engine_factories(settings)) == ["Far", "Small"]
    assert chosen(settings) == "remote"


def test_without_pipelines_there_is_one_engine_without_a_name():
    assert list(engine_factories(Settings(_env_file=None))) == [""]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pipelines": {"Far": "http://host:port"}}, "Far is to run"),
        ({"pipelines": {"AURA": "deploy/none.yaml"}}, "neither a deploy file that is there"),
        ({"pipelines": {"": "embedded"}}, "needs a name"),
        ({"pipelines": PIPELINES, "pipeline": "Other"}, "none of --pipelines: AURA, Small, Far"),
        ({"pipelines": PIPELINES, "models": {1: "x"}}, "leave out --models"),
    ],
)
def test_pipelines_that_cannot_be_run_are_refused(options, words):
    with pytest.raises(ValidationError, match=words):
        Settings(_env_file=None, **options)


@pytest.mark.parametrize(
    ("options", "may"),
    [
        ({}, True),
        ({"host": "::1"}, True),
        ({"host": "0.0.0.0"}, False),  # noqa: S104
        ({"host": "gpu-host"}, False),
        ({"root_path": "/voice"}, False),
        ({"host": "0.0.0.0", "allow_switching": True}, True),  # noqa: S104
        ({"allow_switching": False}, False),
    ],
)
def test_only_who_is_alone_with_the_app_may_switch_unless_it_is_said(options, may):
    assert Settings(_env_file=None, **options).may_switch is may


def test_the_audio_tokenizer_is_found_by_the_variable_that_vllm_omni_knows(monkeypatch):
    monkeypatch.setenv("MIMO_AUDIO_TOKENIZER_PATH", "/models/tokenizer")
    assert Settings(_env_file=None).tokenizer == "/models/tokenizer"
    assert Settings(_env_file=None, tokenizer="other/one").tokenizer == "other/one"


@pytest.mark.parametrize("groups", [1, 2, 71])
def test_pieces_of_sound_that_vllm_omni_would_make_of_another_length_are_refused(groups):
    assert Settings(_env_file=None, sound_groups=6).sound_groups == 6
    with pytest.raises(ValidationError):
        Settings(_env_file=None, sound_groups=groups)
