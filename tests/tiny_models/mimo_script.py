"""What MiMo-Audio says on random weights, which never choose to sound.

The reply is written here, from the prompt alone; the sound of it is the model's own. vLLM-Omni
loads ``ScriptedWorker`` by its name, which ``write_mimo_deploy`` puts into the deploy file.

Of typed words, the reply repeats what follows the last colon, or all of them. Of a clip it says how
many groups of 160 ms it has, and how many all clips of the prompt have together. The sound has as
many groups as the last number typed says, or as the clip has, or else a dozen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from tests.tiny_models.tokenizer import MIMO_TOKENS

if torch.cuda.is_available():
    from vllm_omni.worker.gpu_ar_worker import GPUARWorker as Worker
else:
    from omni_cpu.worker import CpuARWorker as Worker

THOUGHT = "Let me think first."

_EMPTY, _SOSTM = MIMO_TOKENS["<|empty|>"], MIMO_TOKENS["<|sostm|>"]
_EOSTM, _EOT = MIMO_TOKENS["<|eostm|>"], MIMO_TOKENS["<|eot|>"]
_IM_END = 151_645
_WOVEN = 5
_TURN = re.compile(r"<\|im_start\|>(\w+)\n(.*?)(?:<\|im_end\|>\n|\Z)", re.DOTALL)

Encode = Callable[[str], list[int]]


def reply_to(prompt: str, encode: Encode) -> list[int]:
    """The tokens of the reply to a prompt, to the one that ends it."""
    turns = _TURN.findall(prompt)
    asked = [said for role, said in turns if role == "user"][-1]
    heard = asked.count("<|empty|>")
    words = asked.rpartition(": ")[2]
    if heard:
        words = f"{heard} of {prompt.count('<|empty|>')}"
    numbers = re.findall(r"\d+", asked)
    groups = int(numbers[-1]) if numbers else heard or 12
    ending = turns[-1][1]
    if ending == "<|sostm|>":
        return _speech(encode(words), groups)
    thought = encode(f"{THOUGHT}\n</think>\n") if ending == "<think>\n" else []
    if thought and turns[0][0] == "system":  # of these tasks only spoken ones have one
        return [*thought, _SOSTM, *_speech(encode(words), groups)]
    return [*thought, *encode(words), _IM_END]


def _speech(words: list[int], groups: int) -> list[int]:
    """Five words, five groups of sound, and so on; what sound is left comes after the words."""
    woven: list[int] = []
    for start in range(0, len(words), _WOVEN):
        woven += [_EMPTY] * _WOVEN if start else []
        woven += words[start : start + _WOVEN]
    rest = [_EMPTY] * (groups - woven.count(_EMPTY))
    return [*woven, _EOT, *rest, _EOSTM]


class ScriptedWorker(Worker):
    """Works for the stage that thinks, one request at a time."""

    def load_model(self, *args: object, **kwargs: object) -> None:
        """Load the model, and have it follow the script."""
        super().load_model(*args, **kwargs)
        tokenizer = AutoTokenizer.from_pretrained(self.vllm_config.model_config.model)
        _follow_script(self.model_runner.model.fused_thinker_talker, tokenizer)


def _follow_script(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
    forward, compute_logits = model.forward, model.compute_logits
    script: Iterator[int] = iter(())
    token = _IM_END

    def scripted_forward(input_ids: torch.Tensor, *args: object, **kwargs: object) -> object:
        nonlocal script, token
        if len(input_ids) > 1:
            prompt = tokenizer.decode(input_ids.tolist())
            script = iter(reply_to(prompt, tokenizer.encode) if "<|im_start|>" in prompt else ())
        token = next(script, _IM_END)
        return forward(input_ids, *args, **kwargs)

    def scripted_logits(hidden_states: torch.Tensor) -> torch.Tensor:
        # Asked twice: for the choice between word and sound, and for the word.
        logits = compute_logits(hidden_states)
        logits[-1] = -100
        logits[-1, token] = 100
        return logits

    model.forward, model.compute_logits = scripted_forward, scripted_logits
