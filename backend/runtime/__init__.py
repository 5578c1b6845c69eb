"""The engine thread: admission, cancelling, progress watch, health and rebuild."""
