"""What is missing on this machine before the omni engine can start; needs no GPU and no vLLM."""

from backend.engines.omni.doctor.examination import examine
from backend.engines.omni.doctor.report import Report

__all__ = ["Report", "examine"]
