"""How large MiMo-Audio is: as small as it can be, or as large as the real one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.tiny_models.sizes import Size


@dataclass(frozen=True)
class MimoDimensions:
    """Every number that differs between the tiny and the real models."""

    model: dict[str, Any]
    d_model: int
    """Width of the audio tokenizer."""
    block: dict[str, int]
    """Its encoder and its decoder alike."""
    vocoder: dict[str, int]


MIMO_SIZES = {
    # Sections of the rotary embedding are fixed, and add up to half of a head of 128.
    Size.TINY: MimoDimensions(
        model={
            "hidden_size": 128,
            "num_attention_heads": 1,
            "num_key_value_heads": 1,
            "num_hidden_layers": 1,
            "intermediate_size": 128,
            "local_dim": 32,
            "local_layers": 1,
            "local_attn_heads": 2,
            "local_ffn_dim": 64,
            "input_local_dim": 32,
            "input_local_layers": 1,
        },
        d_model=64,
        block={"layers": 1, "attention_heads": 2, "ffn_dim": 128},
        vocoder={"dim": 64, "num_layers": 1, "attention_heads": 2, "intermediate_dim": 128},
    ),
    Size.FULL: MimoDimensions(
        model={
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "num_hidden_layers": 36,
            "intermediate_size": 11_008,
            "local_dim": 1024,
            "local_layers": 16,
            "local_attn_heads": 64,
            "local_ffn_dim": 4096,
            "input_local_dim": 1024,
            "input_local_layers": 6,
        },
        d_model=1280,
        block={"layers": 32, "attention_heads": 20, "ffn_dim": 5120},
        vocoder={"dim": 256, "num_layers": 16, "attention_heads": 16, "intermediate_dim": 1024},
    ),
}
