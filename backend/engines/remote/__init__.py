"""A vLLM-Omni server elsewhere: each turn is one session on its duplex WebSocket."""
