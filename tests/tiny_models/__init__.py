"""Models that start in seconds: real configurations and tokenizers, random weights."""

from tests.tiny_models.deploy import (
    AuraModels,
    write_aura_deploy,
    write_aura_models,
    write_speech_deploy,
)
from tests.tiny_models.folders import write_asr, write_aura, write_tts
from tests.tiny_models.mimo import MimoModels, write_mimo_deploy, write_mimo_models
from tests.tiny_models.sizes import Size

__all__ = [
    "AuraModels",
    "MimoModels",
    "Size",
    "write_asr",
    "write_aura",
    "write_aura_deploy",
    "write_aura_models",
    "write_mimo_deploy",
    "write_mimo_models",
    "write_speech_deploy",
    "write_tts",
]
