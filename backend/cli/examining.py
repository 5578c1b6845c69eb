"""What is missing before the engine can start, said before minutes are spent on loading."""

from __future__ import annotations

import asyncio

from backend.cli.complaints import parse
from backend.cli.options import CliOptions
from backend.contract.errors import EngineFailed
from backend.engines.choose import chosen, engine_factory


def examine_machine() -> int:
    """Print the examination for the engine that the settings choose; returns its exit code."""
    options = parse(CliOptions).of_pipeline()
    if chosen(options) == "remote":
        return _ask_server(options)
    if chosen(options) == "embedded":
        print("The embedded engine needs nothing but its packages: `make run` installs them.")
        print("For the engine on a GPU, add --engine omni.")
        return 0
    from backend.engines.omni.doctor import examine

    report = examine(options.deploy_config, models=options.models, tokenizer=options.tokenizer)
    print(report)
    return report.exit_code


def _ask_server(options: CliOptions) -> int:
    from backend.engines.remote.server import ServerRefused

    engine = engine_factory(options)()
    try:
        asyncio.run(engine.health())
    except (EngineFailed, ServerRefused) as error:
        print(error)
        return 1
    print(f"The server at {options.url} says that it can serve.")
    return 0
