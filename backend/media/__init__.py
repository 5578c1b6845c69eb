"""Intake of what people really send: sound, video and pictures."""
