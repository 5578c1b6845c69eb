"""``load_format: random``: models without weight files that still react to what they get."""

from __future__ import annotations

import torch
from torch import nn
from vllm.config import ModelConfig
from vllm.model_executor.model_loader import register_model_loader
from vllm.model_executor.model_loader.base_loader import BaseModelLoader


@register_model_loader("random")
class RandomWeights(BaseModelLoader):
    """Fills a model so that what goes in keeps its strength on the way through.

    vLLM's own ``dummy`` weights are so small that the input is lost: a decoder of sound gives the
    same faint number for ever, whatever it decodes.
    """

    def download_model(self, model_config: ModelConfig) -> None:
        """There is nothing to download."""

    @torch.no_grad()
    def load_weights(self, model: nn.Module, model_config: ModelConfig) -> None:
        """Fill every weight in place, the same at every start."""
        del model_config
        generator = torch.Generator().manual_seed(0)
        for name, tensor in model.state_dict().items():
            if not tensor.is_floating_point():
                continue
            if tensor.ndim > 1:
                inputs = tensor.numel() / tensor.shape[0]
                # Half the power that keeps the strength through a linear layer: what follows a
                # layer adds to it, and sound would hit full scale.
                tensor.normal_(std=(2 * inputs) ** -0.5, generator=generator)
            else:
                tensor.fill_(0.0 if name.endswith("bias") else 1.0)
