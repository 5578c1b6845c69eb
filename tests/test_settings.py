"""Environment, command line and .env are the same fields."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from pydantic_settings import CliApp

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
