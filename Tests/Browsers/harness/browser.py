"""What a test asks of a browser, whichever it is."""

import asyncio
import json

# Maps don't cross the remote protocols; a list of plain objects does.
_STATS = "Array.from((await ({connection}).getStats()).values()).map((each) => ({{ ...each }}))"


class Browser:
    """One browser with one page. `async with Chromium() as browser:` starts it and always ends it."""

    name = "browser"

    def __init__(self, process):
        self.process = process

    async def __aenter__(self):
        try:
            self.process.start()
            await asyncio.wait_for(self._attach(), 60)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def evaluate(self, body, seconds=30.0):
        """Runs `body`, the inside of an async function, in the page and answers what it returns, as JSON."""
        program = f"(async () => JSON.stringify(await (async () => {{ {body} }})() ?? null))()"
        return json.loads(await self._evaluate(program, seconds))

    async def stats(self, connection="window.peerConnection"):
        """Every entry of getStats() of the page's connection."""
        return await self.evaluate(f"return {_STATS.format(connection=connection)}")

    async def wait_until(self, expression, seconds=20.0):
        """Answers the first true value of `expression` in the page."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            value = await self.evaluate(f"return {expression}")
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{self.name}: {expression} is still {value!r} after {seconds:g} s")
            await asyncio.sleep(0.1)

    async def close(self):
        try:
            await self._detach()
        finally:
            await self.process.end()
