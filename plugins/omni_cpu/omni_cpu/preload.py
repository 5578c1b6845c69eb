"""Everything that a stage imports before it has seen its model; see ``omni_cpu.start``."""

import omni_cpu.worker  # noqa: F401
