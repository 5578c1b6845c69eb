"""MiMo-Audio's audio tokenizer: a second model, which vLLM-Omni finds by environment variables."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from backend.engines.failures import ModelMissing
from backend.engines.hub import snapshot

PATH, DEVICE = "MIMO_AUDIO_TOKENIZER_PATH", "MIMO_AUDIO_TOKENIZER_DEVICE"


def set_up(name: str, device: str = "") -> None:
    """Tell the stages' processes, and this one, where the tokenizer is.

    Each of them loads a copy of its own: this one to read the clips, the last stage to make sound.

    Args:
        name: A local folder, or a hub name, which is fetched where it is not in the cache.
        device: Where all copies run, as ``cpu`` or ``cuda:1``; empty for where each is put.

    Raises:
        ModelMissing: It is not there.
    """
    os.environ[PATH] = str(find(name))
    if device:
        os.environ[DEVICE] = device
    else:
        os.environ.pop(DEVICE, None)


def forget() -> None:
    """Free the memory of this process's copy, which vLLM-Omni keeps for good, on the GPU too.

    Only when no pipeline runs that was told of it.
    """
    module = sys.modules.get("vllm_omni.model_executor.models.mimo_audio.mimo_audio_code2wav")
    if module is None:
        return
    for worker in module._TOKENIZER_WORKER_CACHE.values():
        worker.audio_tokenizer.to("meta")  # the readers of clips outlive their engine, and have it
    module._TOKENIZER_WORKER_CACHE.clear()
    gc.collect()
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def find(name: str) -> Path:
    """The local folder of a tokenizer; vLLM-Omni takes no hub name.

    Raises:
        ModelMissing: It is not there.
    """
    if not name:
        text = (
            "MiMo-Audio needs its audio tokenizer: name its folder or hub name in the deploy file"
            " (omni_live: tokenizer) or with --tokenizer."
        )
        raise ModelMissing(text)
    path = Path(name).expanduser()
    if not path.is_dir():
        if path.is_absolute() or name.startswith((".", "~")):
            raise ModelMissing(f"There is no folder {name} with MiMo-Audio's audio tokenizer.")
        path = snapshot(name)
    if not (path / "config.json").is_file():
        raise ModelMissing(f"{path} holds no audio tokenizer: there is no config.json in it.")
    return path.resolve()
