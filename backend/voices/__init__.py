"""Voices that people keep: checked before they are copied, and found again later."""
