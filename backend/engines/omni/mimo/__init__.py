"""MiMo-Audio on vLLM-Omni: ten kinds of work by one table, from a request to prompt and reply."""
