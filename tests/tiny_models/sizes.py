"""How large the models are: as small as they can be, or as large as the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True)
class Decoder:
    """A Qwen3 decoder, as the text half of every model here is."""

    hidden: int
    feed_forward: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rope_theta: int

    def config(self, vocab_size: int) -> dict[str, Any]:
        """What ``config.json`` says of it."""
        # Time gets the rest after height and width: 24, 20, 20 of 64.
        side = self.head_dim // 2 * 5 // 16
        return {
            "vocab_size": vocab_size,
            "hidden_size": self.hidden,
            "intermediate_size": self.feed_forward,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "hidden_act": "silu",
            "rms_norm_eps": 1e-6,
            "max_position_embeddings": 65_536,
            "rope_theta": self.rope_theta,
            "rope_scaling": {
                "rope_type": "default",
                "mrope_interleaved": True,
                "interleaved": True,
                "mrope_section": [self.head_dim // 2 - 2 * side, side, side],
            },
        }


@dataclass(frozen=True)
class Dimensions:
    """Every number that differs between the tiny and the real models."""

    asr: Decoder
    asr_audio: dict[str, Any]
    aura: Decoder
    aura_vision: dict[str, Any]
    talker: Decoder
    code_predictor: dict[str, Any]
    code_groups: int
    """Codes per frame of sound; the talker runs its code predictor once for each but the first."""
    speaker_channels: int
    codec_encoder: dict[str, Any]
    codec_decoder: dict[str, Any]
    vocab_size: int | None
    """None: as many as the tokenizer needs."""


class Size(Enum):
    """Which dimensions to write."""

    # 32 is the smallest head that vLLM's attention takes on a CPU.
    TINY = Dimensions(
        asr=Decoder(64, 128, 1, 2, 1, 32, 1_000_000),
        asr_audio={
            "d_model": 64,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 128,
            "downsample_hidden_size": 16,
        },
        aura=Decoder(64, 128, 1, 2, 1, 32, 5_000_000),
        aura_vision={
            "depth": 1,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "deepstack_visual_indexes": [0],
        },
        talker=Decoder(64, 128, 1, 2, 1, 32, 1_000_000),
        code_predictor={
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 32,
        },
        code_groups=4,
        speaker_channels=16,
        codec_encoder={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_filters": 4,
            "num_hidden_layers": 1,
            "num_attention_heads": 1,
            "num_key_value_heads": 1,
            "head_dim": 32,
            "codebook_dim": 16,
            "vector_quantization_hidden_dimension": 16,
            "upsample_groups": 32,
            "num_quantizers": 8,
        },
        codec_decoder={
            "codebook_dim": 32,
            "latent_dim": 32,
            "decoder_dim": 32,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 1,
            "num_attention_heads": 1,
            "num_key_value_heads": 1,
            "head_dim": 32,
        },
        vocab_size=None,
    )
    FULL = Dimensions(
        asr=Decoder(2048, 6144, 28, 16, 8, 128, 1_000_000),
        asr_audio={
            "d_model": 1024,
            "encoder_layers": 24,
            "encoder_attention_heads": 16,
            "encoder_ffn_dim": 4096,
            "downsample_hidden_size": 480,
        },
        aura=Decoder(4096, 12_288, 36, 32, 8, 128, 5_000_000),
        aura_vision={
            "depth": 27,
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_heads": 16,
            "deepstack_visual_indexes": [8, 16, 24],
        },
        talker=Decoder(2048, 6144, 28, 16, 8, 128, 1_000_000),
        code_predictor={
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_hidden_layers": 5,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "head_dim": 128,
        },
        code_groups=16,
        speaker_channels=512,
        codec_encoder={
            "hidden_size": 512,
            "intermediate_size": 2048,
            "num_filters": 64,
            "num_hidden_layers": 8,
            "num_attention_heads": 8,
            "num_key_value_heads": 8,
            "head_dim": 64,
            "codebook_dim": 256,
            "vector_quantization_hidden_dimension": 256,
            "upsample_groups": 512,
            "num_quantizers": 32,
        },
        codec_decoder={
            "codebook_dim": 512,
            "latent_dim": 1024,
            "decoder_dim": 1536,
            "hidden_size": 512,
            "intermediate_size": 1024,
            "num_hidden_layers": 8,
            "num_attention_heads": 16,
            "num_key_value_heads": 16,
            "head_dim": 64,
        },
        vocab_size=151_936,
    )
