"""Keeps what explains a failure: pictures of the pages and the logs of the processes."""

import contextlib
import os


@contextlib.asynccontextmanager
async def kept_on_failure(report, folder, browsers, processes=()):
    """Around a part of a test: where it raises, saves screenshots and logs in `folder` before anything is closed."""
    try:
        yield
    except Exception:
        os.makedirs(folder, exist_ok=True)
        for browser in browsers:
            try:
                await browser.screenshot(os.path.join(folder, f"{browser.name}.png"))
            except Exception as error:  # the picture is a help only, the failure itself matters
                report.say(f"  no picture of {browser.name}: {error}")
        for process in [*processes, *(browser.process for browser in browsers)]:
            with open(os.path.join(folder, f"{process.name}.log"), "w") as file:
                file.write(process.log())
        report.say(f"  pictures and logs are in {folder}")
        raise
