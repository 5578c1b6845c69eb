"""MiMo-Audio: its model without weights, its audio tokenizer with them, and a deploy file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.tiny_models.deploy import deploy_file, stage_entry, write_deploy
from tests.tiny_models.files import write_json
from tests.tiny_models.folders import write_config
from tests.tiny_models.mimo_sizes import MIMO_SIZES, MimoDimensions
from tests.tiny_models.sizes import Size
from tests.tiny_models.tokenizer import MIMO_TOKENS, write_tokenizer

SCRIPTED_WORKER = "tests.tiny_models.mimo_script.ScriptedWorker"

# Eight channels of codes, four frames in a group: what the stages between count on.
_SPEECH = {
    "group_size": 4,
    "audio_channels": 8,
    "speech_vocab_size": "1025-1025-129-129-129-129-129-129",
    "speech_zeroemb_idx": "1024-1024-128-128-128-128-128-128",
    "delay_pattern": "0-1-2-3-4-5-6-7",
}


@dataclass(frozen=True)
class MimoModels:
    """The folders of the model that both stages load, and of its audio tokenizer."""

    model: Path
    audio_tokenizer: Path


def write_mimo_models(folder: Path, size: Size = Size.TINY) -> MimoModels:
    """Write both below ``folder``. Needs vLLM-Omni, whose classes make the audio tokenizer."""
    dimensions = MIMO_SIZES[size]
    return MimoModels(
        _write_model(folder / "mimo", dimensions),
        _write_audio_tokenizer(folder / "mimo_tok", dimensions),
    )


def write_mimo_deploy(
    path: Path,
    models: MimoModels,
    *,
    chunk_groups: int = 5,
    max_model_len: int = 2048,
    scripted: bool = True,
) -> Path:
    """Write the deploy file that runs ``models``.

    Args:
        path: Where to.
        models: What the stages load.
        chunk_groups: Groups of 160 ms in each piece of sound; three are the fewest.
        max_model_len: Most tokens of prompt and reply together.
        scripted: Whether replies follow ``mimo_script``; random weights never choose to sound.

    Returns:
        ``path``.
    """
    greedy = {"temperature": 0.0, "top_p": 1.0, "top_k": -1, "seed": 42}
    common = {"dtype": "bfloat16"}  # the model makes buffers of this type, whatever its own
    worker = {"worker_cls": SCRIPTED_WORKER} if scripted else {}
    stages = [
        {
            **stage_entry(0, models.model, 1, max_model_len=max_model_len),
            **common,
            **worker,
            "output_connectors": {"to_stage_1": "memory"},
            "default_sampling_params": greedy
            | {"max_tokens": max_model_len, "repetition_penalty": 1.1},
        },
        {
            **stage_entry(1, models.model, 1, max_model_len=8192),
            **common,
            "input_connectors": {"from_stage_0": "memory"},
            "default_sampling_params": greedy | {"max_tokens": 18_192},
        },
    ]
    memory = {
        "name": "SharedMemoryConnector",
        "extra": {
            "codec_streaming": True,
            "connector_get_sleep_s": 0.001,
            "connector_get_max_wait_first_chunk": 3000,
            "connector_get_max_wait": 300,
            "codec_chunk_frames": chunk_groups,
            "codec_left_context_frames": 40,
        },
    }
    deploy = deploy_file("mimo_audio", stages, memory)
    deploy["omni_live"] = {"tokenizer": str(models.audio_tokenizer)}
    return write_deploy(path, deploy)


def _write_model(folder: Path, dimensions: MimoDimensions) -> Path:
    """Of an older Qwen's tokenizer, Transformers takes bytes and merges alone: a token a letter."""
    vocab_size = -(-write_tokenizer(folder, MIMO_TOKENS, {}) // 64) * 64
    write_config(
        folder,
        {
            "architectures": ["MiMoAudioModel"],
            "model_type": "qwen2",
            "vocab_size": vocab_size,
            "head_dim": 128,
            "hidden_act": "silu",
            "rms_norm_eps": 1e-6,
            "rope_theta": 640_000,
            "max_position_embeddings": 8192,
            "tie_word_embeddings": False,
            "input_full_attention": True,
            **_SPEECH,
            **dimensions.model,
        },
    )
    return folder


def _write_audio_tokenizer(folder: Path, dimensions: MimoDimensions) -> Path:
    """It is loaded outside vLLM, which therefore cannot make its weights up."""
    import torch
    from safetensors.torch import save_file
    from vllm_omni.model_executor.models.mimo_audio.config_mimo_audio import (
        MiMoAudioTokenizerConfig,
    )
    from vllm_omni.model_executor.models.mimo_audio.modeling_audio_tokenizer import (
        MiMoAudioTokenizer,
    )

    config = {
        "architectures": ["MiMoAudioTokenizer"],
        "model_type": "mimo_audio_tokenizer",
        "sampling_rate": 24_000,
        "hop_length": 240,
        "stride_size": 2,
        "avg_pooler": 2,
        "nfft": 960,
        "window_size": 960,
        "n_mels": 128,
        "kernel_size": 3,
        "d_model": dimensions.d_model,
        **{f"encoder_{name}": size for name, size in dimensions.block.items()},
        **{f"decoder_{name}": size for name, size in dimensions.block.items()},
        "decoder_kernel_size": 3,
        "decoder_stride_size": 2,
        **{f"vocoder_{name}": size for name, size in dimensions.vocoder.items()},
        "vocoder_attn_window_size": [40, 10],
        "num_quantizers": 20,
        "codebook_size": [1024, 1024, *[128] * 18],
    }
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MiMoAudioTokenizer(MiMoAudioTokenizerConfig(**config))
        for name, codes in model.named_buffers():
            if name.endswith(".embed"):  # zeros, as before training
                codes.normal_()
    write_json(folder / "config.json", config)
    save_file(model.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    return folder
