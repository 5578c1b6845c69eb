"""vLLM-Omni in the app's own process: AURA hears, sees, thinks and speaks on GPUs."""
