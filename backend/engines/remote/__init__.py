"""A server elsewhere: answers over its duplex WebSocket, texts spoken by its speech route."""
