"""In-band FEC of Opus: a publisher that loses nothing protects its sound for a viewer that does, because the server says so.

The viewer takes no RED, which would be counted as well, so what it counts as FEC is what the publisher's encoder has put into its packets.
"""

import asyncio

from harness.chromium import Chromium
from harness.evidence import kept_on_failure
from harness.link import settings
from harness.quality import entries, total
from harness.stage import PUBLISHER, Stage

ROOM = "inband-fec"
LOSS = 0.15
# Chromium smooths what it hears over ten seconds; of what is no voice an encoder makes FEC from 9 % on.
PATIENCE = 50.0
WINDOW = 5.0


async def _protected(far, seconds=WINDOW):
    """Packets of sound with FEC for the one before, as a share of all that the viewer received in a window."""
    before = await far.stats()
    await asyncio.sleep(seconds)
    after = await far.stats()

    def grown(field):
        return total(after, "audio", "inbound-rtp", field) - total(before, "audio", "inbound-rtp", field)

    packets = grown("packetsReceived")
    return grown("fecPacketsReceived") / packets if packets else 0.0


async def _becomes_protected(far):
    """(the share, seconds until it was that)"""
    loop = asyncio.get_running_loop()
    start = loop.time()
    share = 0.0
    while share < 0.5 and loop.time() - start < PATIENCE:
        share = await _protected(far)
    return share, loop.time() - start


async def _heard(near):
    """What the publisher heard last of its sound: the share that is lost at present, and packets that were lost in all."""
    blocks = entries(await near.stats(), "audio", "remote-inbound-rtp")
    return max((each.get("fractionLost") or 0.0 for each in blocks), default=0.0), sum(each.get("packetsLost") or 0 for each in blocks)


async def _measure(report, stage, browser):
    near = await stage.publish(ROOM)
    far = await stage.view(browser, ROOM, plain_sound=True)
    try:
        await far.first_frame(PUBLISHER)
        await asyncio.sleep(2)
        share = await _protected(far)
        holds = report.row("sound, nothing lost: packets with FEC", "at most 0.05 of all", f"{share:.2f}", share <= 0.05)
        await stage.link.change("down", settings(loss=LOSS))
        share, seconds = await _becomes_protected(far)
        fraction, lost = await _heard(near)
        holds &= report.row(f"sound, {LOSS:.0%} lost behind the server: packets with FEC", "half of all, within 50 s",
                            f"{share:.2f} after {seconds:.0f} s", share >= 0.5)
        return holds & report.row("and what its publisher hears, of whose packets none was lost", "0.05 to 0.3 at present, 0 in all",
                                  f"{fraction:.2f} at present, {lost} in all", 0.05 <= fraction <= 0.305 and lost == 0)
    finally:
        await far.leave()
        await near.leave()


async def run(report, options):
    async with Stage(options) as stage, stage.viewer(Chromium) as browser:
        async with kept_on_failure(report, options.evidence, (stage.publisher, browser), (stage.server.process,)):
            holds = await _measure(report, stage, browser)
        stage.server.process.require_running()
        return holds
