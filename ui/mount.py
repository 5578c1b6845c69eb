"""Places in the page that its own script fills."""

from __future__ import annotations

import gradio as gr

MODULE = "import(new URL('omni/page.js', document.baseURI))"
"""The page's script; the browser loads it once, however many parts ask for it."""


def mount(function: str, elem_id: str, *arguments: str) -> gr.HTML:
    """An element that the script's ``function`` is given, with these further arguments."""
    given = ", ".join(("element.querySelector('.mount')", *arguments))
    return gr.HTML(
        "<div class='mount'></div>",
        js_on_load=f"{MODULE}.then((page) => page.{function}({given}))",
        elem_id=elem_id,
        apply_default_css=False,
    )
