"""How the page looks: one Gradio theme, and style sheets for what Gradio has no part for."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

STATIC_DIR = Path(__file__).parent / "static"

STYLE_SHEETS = [STATIC_DIR / "page.css", STATIC_DIR / "tasks.css"]


def make_theme() -> gr.themes.Base:
    """Calm neutrals and one accent, in light and dark; no font from a network."""
    system_fonts = ("ui-sans-serif", "system-ui", "sans-serif")
    return gr.themes.Soft(
        primary_hue=gr.themes.colors.teal,
        neutral_hue=gr.themes.colors.slate,
        font=system_fonts,
        font_mono=("ui-monospace", "monospace"),
    ).set(
        body_text_color_subdued="*neutral_500",
        block_info_text_color="*neutral_500",
        checkbox_border_width="1px",
        checkbox_border_color="*neutral_500",
        checkbox_border_color_dark="*neutral_400",
    )
