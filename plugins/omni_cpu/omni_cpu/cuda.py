"""Answers for models that ask CUDA before they look whether it is there."""

from __future__ import annotations

import torch


def answer_for_absent_cuda() -> None:
    """Let models ask whether a CUDA graph is being captured where there is no CUDA.

    MiMo-Audio and others ask without looking for a device first, and PyTorch answers with an error.
    """
    if not torch.cuda.is_available():
        torch.cuda.is_current_stream_capturing = lambda: False
