"""One package per engine, each an implementation of the contract."""
