"""What is known of the models: their size in memory and on disk, and their shape."""

from __future__ import annotations

from dataclasses import dataclass

from backend.engines.omni.doctor.stage_plan import MIMO, Role, StagePlan

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model as one stage loads it. The defaults are those of all Qwen3 decoders here.

    Attributes:
        weights_gib: In memory in bf16, without the codec.
        codec_gib: The part of a voice model that the sound stage loads.
        download_gb: What the hub sends, in 10^9 bytes.
        hidden: Width of the decoder.
        feed_forward: Width of its feed-forward layers.
        layers: Decoder layers.
        kv_heads: Key and value heads of each.
        head_dim: Numbers in a key, and in a value.
        linear_part: Part of the weights that a quantisation while loading takes; the rest,
            embeddings and heads, stays as it is.
        loaded: Weights in memory against their files.
        sees: Whether it takes pictures.
        step_logits: Words that each token of a step is weighed against; 0 for a model that, as
            usual, weighs the last one alone.
    """

    weights_gib: float
    download_gb: float
    hidden: int
    feed_forward: int
    layers: int = 28
    codec_gib: float = 0.0
    kv_heads: int = 8
    head_dim: int = 128
    linear_part: float = 0.8
    loaded: float = 1.04
    sees: bool = False
    step_logits: int = 0


_ASR_LARGE = ModelFacts(3.8, 4.7, hidden=2048, feed_forward=6144)
_ASR_SMALL = ModelFacts(1.5, 1.9, hidden=1024, feed_forward=3072)
_AURA = ModelFacts(
    17.0, 17.6, hidden=4096, feed_forward=12288, layers=36, linear_part=0.82, sees=True
)
_TTS_LARGE = ModelFacts(3.8, 4.6, hidden=2048, feed_forward=6144, codec_gib=0.5)
_TTS_SMALL = ModelFacts(1.7, 2.6, hidden=1024, feed_forward=3072, codec_gib=0.5)
_MIMO = ModelFacts(
    16.2, 16.0, hidden=4096, feed_forward=11008, layers=36, codec_gib=2.4, linear_part=0.74,
    loaded=1.09, step_logits=151_680,
)  # fmt: skip

_KNOWN = {
    "Qwen/Qwen3-ASR-1.7B": _ASR_LARGE,
    "Qwen/Qwen3-ASR-0.6B": _ASR_SMALL,
    "aurateam/AURA": _AURA,
    "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice": _TTS_LARGE,
    "Qwen/Qwen3-TTS-12Hz-1.7B-Base": _TTS_LARGE,
    "Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign": _TTS_LARGE,
    "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice": _TTS_SMALL,
    "Qwen/Qwen3-TTS-12Hz-0.6B-Base": _TTS_SMALL,
    "XiaomiMiMo/MiMo-Audio-7B-Instruct": _MIMO,
    "XiaomiMiMo/MiMo-Audio-7B-Base": _MIMO,
}
"""Computed from the models' shapes; AURA and the large talker were measured on one H200, where the
loaded weights of AURA were 16.95 GiB against 16.33 in its files. vLLM-Omni loads MiMo-Audio with a
second head for words, which its files do not have and nothing uses."""

_USUAL = {
    Role.HEAR: _ASR_LARGE,
    Role.THINK: _AURA,
    Role.SPEAK: _TTS_LARGE,
    Role.SOUND: _TTS_LARGE,
}


def is_known(model: str) -> bool:
    """Whether the table has this model."""
    return model in _KNOWN


def facts_of(stage: StagePlan) -> ModelFacts:
    """The facts of a stage's model; of the usual one for its role when it is not known."""
    usual = _MIMO if stage.pipeline == MIMO else _USUAL[stage.role]
    return _KNOWN.get(stage.model, usual)
