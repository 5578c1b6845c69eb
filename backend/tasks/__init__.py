"""Pieces of work beside the conversation: their recordings, and long ones in parts."""
