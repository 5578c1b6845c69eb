"""Sessions, their history, the silence gate, and what is said aloud."""
