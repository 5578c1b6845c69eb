"""Many texts spoken one after the other: from a file, over restarts, into a zip."""
