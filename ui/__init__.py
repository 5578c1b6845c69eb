"""The page: Gradio Blocks and the browser code in static/."""
