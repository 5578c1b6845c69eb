"""The call panel: its place in the page, and how a call learns what is chosen under Settings."""

from __future__ import annotations

import gradio as gr
from gradio.events import Dependency

from ui.composer import Composer
from ui.handlers import Sender
from ui.mount import mount
from ui.settings_panel import SettingsPanel


def build_live_panel() -> gr.HTML:
    """The panel; its ``change`` says that a call needs the choices of now."""
    return mount("mountCall", "call-host", "() => trigger('change')")


def follow_choices(
    live: gr.HTML, panel: SettingsPanel, composer: Composer, sender: Sender
) -> Dependency:
    """Bring the choices to the session when a call begins, and whenever they change in one.

    Returns:
        The event that brings them, for what depends on its errors.
    """
    gr.on(
        [control.change for control in panel.kept],
        fn=None,
        js="() => window.omni?.call.choicesChanged()",
        show_progress="hidden",
        api_visibility="private",
    )
    return live.change(
        sender.settle,
        [composer.session, *panel.kept],
        composer.error_lines,
        js="(...inputs) => window.omni ? window.omni.composer.identify(inputs) : inputs",
        trigger_mode="always_last",
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
