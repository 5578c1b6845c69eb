"""Model folders as a hub would hold them, without the weights (``load_format: dummy``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tests.tiny_models.files import write_json
from tests.tiny_models.sizes import Dimensions, Size
from tests.tiny_models.tokenizer import (
    RECOGNISER_MARKUP,
    SILENT_TOKENS,
    SPEECH_TOKENS,
    write_tokenizer,
)

SPEAKERS = {"vivian": 3065, "ryan": 3061, "serena": 3066, "dylan": 2878}
"""The built-in voices of the CustomVoice model; the last speaks a dialect."""

LANGUAGES = {"chinese": 2055, "english": 2050, "german": 2053, "french": 2061, "japanese": 2058}


def write_asr(folder: Path, size: Size = Size.TINY) -> Path:
    """Write a Qwen3-ASR model, AURA's first stage.

    Returns:
        ``folder``.
    """
    vocab_size = _write_tokenizer(folder, size, SPEECH_TOKENS, RECOGNISER_MARKUP)
    dimensions = size.value
    write_config(
        folder,
        {
            "architectures": ["Qwen3ASRForConditionalGeneration"],
            "model_type": "qwen3_asr",
            "thinker_config": {
                "audio_config": {
                    **dimensions.asr_audio,
                    "num_mel_bins": 128,
                    "output_dim": dimensions.asr.hidden,
                    "max_source_positions": 1500,
                    "n_window": 50,
                    "n_window_infer": 800,
                    "conv_chunksize": 500,
                },
                "text_config": dimensions.asr.config(vocab_size) | {"tie_word_embeddings": True},
                "audio_token_id": SPEECH_TOKENS["<|audio_pad|>"],
                "audio_start_token_id": SPEECH_TOKENS["<|audio_start|>"],
                "audio_end_token_id": SPEECH_TOKENS["<|audio_end|>"],
            },
        },
    )
    write_json(
        folder / "preprocessor_config.json",
        {
            "feature_extractor_type": "WhisperFeatureExtractor",
            "feature_size": 128,
            "sampling_rate": 16_000,
            "hop_length": 160,
            "n_fft": 400,
            "chunk_length": 30,
            "return_attention_mask": True,
        },
    )
    return folder


def write_aura(folder: Path, size: Size = Size.TINY) -> Path:
    """Write a Qwen3-VL model with AURA's ``<|silent|>``, its second stage.

    Returns:
        ``folder``.
    """
    vocab_size = _write_tokenizer(folder, size, SILENT_TOKENS, {})
    dimensions = size.value
    write_config(
        folder,
        {
            "architectures": ["Qwen3VLForConditionalGeneration"],
            "model_type": "qwen3_vl",
            "image_token_id": 151_655,
            "video_token_id": 151_656,
            "vision_start_token_id": 151_652,
            "vision_end_token_id": 151_653,
            "text_config": {"model_type": "qwen3_vl_text"} | dimensions.aura.config(vocab_size),
            "vision_config": {
                "model_type": "qwen3_vl",
                **dimensions.aura_vision,
                "out_hidden_size": dimensions.aura.hidden,
                "hidden_act": "gelu_pytorch_tanh",
                "patch_size": 16,
                "temporal_patch_size": 2,
                "spatial_merge_size": 2,
                "num_position_embeddings": 2304,
            },
        },
    )
    pixels = {
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    images = {"image_processor_type": "Qwen2VLImageProcessorFast"}
    images |= {"size": {"shortest_edge": 65_536, "longest_edge": 16_777_216}}
    write_json(folder / "preprocessor_config.json", images | pixels)
    videos = {"video_processor_type": "Qwen3VLVideoProcessor"}
    videos |= {"size": {"shortest_edge": 4_096, "longest_edge": 25_165_824}}
    write_json(folder / "video_preprocessor_config.json", videos | pixels)
    return folder


def write_tts(
    folder: Path,
    kind: Literal["Base", "CustomVoice"] = "CustomVoice",
    size: Size = Size.TINY,
    *,
    speakers: Mapping[str, int] | None = None,
) -> Path:
    """Write a Qwen3-TTS model, AURA's third and fourth stage.

    Args:
        folder: Where to.
        kind: ``Base`` speaks in the voice of a reference, ``CustomVoice`` in one of `SPEAKERS`.
        size: Which dimensions.
        speakers: Speakers and their ids; none for the usual ones of the kind.

    Returns:
        ``folder``.
    """
    vocab_size = _write_tokenizer(folder, size, SPEECH_TOKENS, {})
    dimensions = size.value
    custom = kind == "CustomVoice"
    groups = dimensions.code_groups
    known = dict(speakers or (SPEAKERS if custom else {}))
    predictor = {"vocab_size": 2048, "num_code_groups": groups, "rope_theta": 1_000_000}
    write_config(
        folder,
        {
            "architectures": ["Qwen3TTSForConditionalGeneration"],
            "model_type": "qwen3_tts",
            "tts_model_type": "custom_voice" if custom else "base",
            "tts_model_size": "1b7",
            "tokenizer_type": "qwen3_tts_tokenizer_12hz",
            "tts_pad_token_id": SPEECH_TOKENS["<tts_pad>"],
            "tts_bos_token_id": SPEECH_TOKENS["<tts_text_bos>"],
            "tts_eos_token_id": SPEECH_TOKENS["<tts_text_eod>"],
            "speaker_encoder_config": _speaker_encoder(dimensions),
            "talker_config": {
                "model_type": "qwen3_tts_talker",
                **dimensions.talker.config(vocab_size=3072),
                "num_code_groups": groups,
                "text_vocab_size": vocab_size,
                "text_hidden_size": dimensions.talker.hidden,
                "position_id_per_seconds": 13,
                "codec_pad_id": 2148,
                "codec_bos_id": 2149,
                "codec_eos_token_id": 2150,
                "codec_think_id": 2154,
                "codec_nothink_id": 2155,
                "codec_think_bos_id": 2156,
                "codec_think_eos_id": 2157,
                "codec_language_id": LANGUAGES | {"beijing_dialect": 2074},
                "spk_id": known,
                "spk_is_dialect": {
                    name: "beijing_dialect" if name == "dylan" else False for name in known
                },
                "code_predictor_config": dimensions.code_predictor | predictor,
            },
        },
    )
    _write_codec(folder / "speech_tokenizer", dimensions)
    return folder


def _write_codec(folder: Path, dimensions: Dimensions) -> None:
    """What turns sound into codec frames of 80 ms, and codec frames into sound."""
    write_json(
        folder / "config.json",
        {
            "architectures": ["Qwen3TTSTokenizerV2Model"],
            "model_type": "qwen3_tts_tokenizer_12hz",
            "encoder_valid_num_quantizers": dimensions.code_groups,
            "input_sample_rate": 24_000,
            "output_sample_rate": 24_000,
            "encode_downsample_rate": 1920,
            "decode_upsample_rate": 1920,
            "encoder_config": {
                **dimensions.codec_encoder,
                "codebook_size": 2048,
                "frame_rate": 12.5,
                "sampling_rate": 24_000,
                "upsampling_ratios": [8, 6, 5, 4],
                "sliding_window": 250,
            },
            "decoder_config": {
                **dimensions.codec_decoder,
                "codebook_size": 2048,
                "num_quantizers": dimensions.code_groups,
                "upsample_rates": [8, 5, 4, 3],
                "upsampling_ratios": [2, 2],
                "sliding_window": 72,
            },
        },
    )
    write_json(
        folder / "preprocessor_config.json",
        {
            "feature_extractor_type": "EncodecFeatureExtractor",
            "feature_size": 1,
            "sampling_rate": 24_000,
            "padding_side": "right",
            "return_attention_mask": True,
        },
    )


def _speaker_encoder(dimensions: Dimensions) -> dict[str, Any]:
    channels = dimensions.speaker_channels
    return {
        "enc_dim": dimensions.talker.hidden,  # a voice stands in the prompt as one more token
        "enc_channels": [channels] * 4 + [3 * channels],
        "enc_attention_channels": min(channels, 128),
        "enc_se_channels": min(channels, 128),
        "sample_rate": 24_000,
    }


def _write_tokenizer(
    folder: Path, size: Size, special: dict[str, int], markup: dict[str, int]
) -> int:
    needed = write_tokenizer(folder, special, markup)
    return size.value.vocab_size or -(-needed // 64) * 64


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write ``config.json`` and ``generation_config.json`` of a model that writes."""
    # Without a version, a tokenizer of this size is taken for one of Mistral's that needs mending.
    about = {"dtype": "bfloat16", "transformers_version": "4.57.1"}
    write_json(folder / "config.json", config | about)
    write_json(
        folder / "generation_config.json",
        {"eos_token_id": [151_645, 151_643], "pad_token_id": 151_643},
    )
