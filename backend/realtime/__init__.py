"""The WebSocket that carries a session's events and sound to the page."""
