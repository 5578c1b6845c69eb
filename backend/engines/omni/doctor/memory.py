"""How much memory a stage takes, and how many turns its KV cache holds.

All of it is estimated: weights by their files or the table of models, working memory by the widths
of the layers and the tokens of one step. vLLM measures both when it starts.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.engines.omni.doctor.models import GIB, ModelFacts, facts_of
from backend.engines.omni.doctor.stage_plan import Role, StagePlan
from backend.engines.omni.doctor.weights import Weights

TURN_TOKENS = {Role.HEAR: 768, Role.THINK: 4096, Role.SPEAK: 1024}
"""What a usual turn holds at a time: a clip of 30 s; 16 frames of 640x640, the last exchanges and a
reply; one sentence and a voice to be copied."""

CONTEXT_BYTES = int(0.4 * GIB)
"""A process' CUDA context, which lies outside its share."""

GRAPHS_BYTES = int(0.15 * GIB)
"""Graphs for a few decode sizes, which vLLM-Omni captures outside the share too."""

_WORKSPACE = int(0.4 * GIB)
_HEARING = int(0.1 * GIB)
_DECODING = int(0.9 * GIB)
_HANDING_ON = int(0.1 * GIB)
_PICTURE_TOKEN = 142 << 10
"""Bytes that Qwen3-VL's vision tower works in for each token that it makes."""


@dataclass(frozen=True, slots=True)
class StageFit:
    """One stage on one of its cards, in bytes.

    Attributes:
        stage: What the deploy file asks for.
        share_bytes: The part of the card that it may fill.
        weights_bytes: Its weights.
        working_bytes: What a step needs besides.
        kv_bytes: What is left for the KV cache; 0 for the sound stage, which has none.
        kv_tokens: Tokens that this holds.
        turns: Usual turns that it works on at once, in all replicas; none without a KV cache.
        problem: Why it cannot start, in plain words, or empty.
    """

    stage: StagePlan
    share_bytes: int
    weights_bytes: int
    working_bytes: int
    kv_bytes: int
    kv_tokens: int
    turns: int | None
    problem: str


def fit_stage(
    stage: StagePlan,
    card_bytes: int,
    weights: Weights | None = None,
    *,
    decodes_on_card: bool = True,
) -> StageFit:
    """Put a stage on a card.

    Args:
        stage: What the deploy file asks for.
        card_bytes: Memory of the card that is open to programs.
        weights: What of its model is on disk, if that was looked up.
        decodes_on_card: Whether a sound stage makes its sound on the card, not on the CPU.
    """
    if stage.role is Role.SOUND and not decodes_on_card:
        return StageFit(stage, int(card_bytes * stage.share), 0, _HANDING_ON, 0, 0, None, "")
    facts = facts_of(stage)
    share = int(card_bytes * stage.share)
    loaded = weights_bytes(stage, facts, weights) // stage.tensor_parallel
    working = working_bytes(stage, facts)
    left = share - loaded - working
    if left < 0:
        need = _gib(loaded + working)
        problem = f"needs {need} GiB to start, its share of the card is {_gib(share)} GiB"
        return StageFit(stage, share, loaded, working, 0, 0, None, problem)
    if stage.role is Role.SOUND:
        return StageFit(stage, share, loaded, working, 0, 0, None, "")
    kv = left if stage.kv_bytes is None else stage.kv_bytes
    tokens = kv // kv_bytes_per_token(stage, facts)
    turn = min(TURN_TOKENS[stage.role], stage.max_model_len)
    turns = min(stage.max_num_seqs, tokens // turn) * stage.replicas
    short = (
        f"has KV for {tokens:,} tokens, fewer than its max_model_len of {stage.max_model_len:,}"
        if tokens < stage.max_model_len
        else ""
    )
    return StageFit(stage, share, loaded, working, kv, tokens, turns, short)


def weights_bytes(stage: StagePlan, facts: ModelFacts, weights: Weights | None) -> int:
    """The stage's weights in memory, by their files where they are on disk."""
    sound = stage.role is Role.SOUND
    size = int((facts.codec_gib if sound else facts.weights_gib) * GIB)
    if weights is not None and weights.complete:
        on_disk = weights.codec_bytes if sound else weights.weights_bytes
        size = int(on_disk * facts.loaded) or size  # MiMo-Audio's codec is a model of its own
    if stage.quantization and "fp8" in stage.quantization:
        size -= int(size * facts.linear_part / 2)
    return size


def working_bytes(stage: StagePlan, facts: ModelFacts) -> int:
    """What one step needs besides weights and KV cache."""
    if stage.role is Role.SOUND:
        return _DECODING
    step = stage.max_num_batched_tokens * 2 * (4 * facts.hidden + 3 * facts.feed_forward)
    if facts.sees:
        # Qwen3-VL keeps four vectors a picture token: its own, and three for the first layers.
        seen = stage.picture_tokens * 8 * facts.hidden
        return _WORKSPACE + max(stage.picture_tokens * _PICTURE_TOKEN, seen + step)
    # The model weighs every token of a step, and then copies that once.
    step = max(step, stage.max_num_batched_tokens * 2 * 2 * facts.step_logits)
    return _WORKSPACE + step + (_HEARING if stage.role is Role.HEAR else 0)


def kv_bytes_per_token(stage: StagePlan, facts: ModelFacts) -> int:
    """A key and a value in each layer: 144 KiB for AURA and MiMo-Audio, else 112, in bf16."""
    whole = 2 * facts.layers * facts.kv_heads * facts.head_dim * stage.kv_item_bytes
    return max(1, whole // stage.tensor_parallel)


def _gib(size: int) -> str:
    return f"{size / GIB:.1f}"
