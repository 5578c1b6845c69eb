"""The page's WebSocket with a hand on it."""

from __future__ import annotations


class Link:
    """Lets messages through, holds them back, cuts the line, or lets it go dead without a word."""

    def __init__(self) -> None:
        self.opened = 0
        self.down = False
        self.held: list[tuple[object, str]] | None = None
        self._ends = []
        self._dead = set()

    @classmethod
    async def attach(cls, page) -> Link:
        """Take the line of a page that is not opened yet."""
        link = cls()
        await page.route_web_socket(lambda url: "/v1/realtime" in url, link._on_open)
        return link

    async def cut(self) -> None:
        """Close the line at both ends, and let no other be made."""
        self.down = True
        ends, self._ends = self._ends, []
        for page_end, app_end in ends:
            await app_end.close()
            await page_end.close()

    def mend(self) -> None:
        """Let lines be made again."""
        self.down = False

    def kill(self) -> None:
        """Carry nothing more on the lines that are open; neither end is told."""
        self._dead.update(self._ends)

    def hold(self) -> None:
        """Keep back what the app says."""
        self.held = []

    def release(self) -> None:
        """Hand on what was kept back, and everything that follows."""
        kept, self.held = self.held, None
        for page_end, message in kept:
            page_end.send(message)

    async def _on_open(self, page_end) -> None:
        self.opened += 1
        if self.down:
            await page_end.close()
            return
        app_end = page_end.connect_to_server()
        ends = (page_end, app_end)
        self._ends.append(ends)

        def to_app(message: str) -> None:
            if ends not in self._dead:
                app_end.send(message)

        def to_page(message: str) -> None:
            if self.held is not None:
                self.held.append((page_end, message))
            elif ends not in self._dead:
                page_end.send(message)

        page_end.on_message(to_app)
        app_end.on_message(to_page)
