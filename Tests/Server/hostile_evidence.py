"""What shows that a hostile deed was really done, and refused where it should be."""

EVIDENCE = {
    "rollover": (["packets", "packets that reach others"], []),
    "stopped_sections": (["taken up", "stopped", "canSubscribe false", "canSubscribe true"], []),
    "published_again": (["published", "stopped", "canPublish false", "declined not-allowed"], []),
    "forged_checks": (["checks", "answers", "paths given up"], []),
    "messages": (["closed 1009", "closed 4004", "heard pong", "heard error unknown-track"], []),
    "offers": (["published"], []),
    "screens": (["screens"], []),
    "raced_removals": (["joined", "removed", "looked for", "refused token-removed"], []),
    "wrong_sources": (["published", "declined not-allowed", "refused bad-message"], ["bad-message"]),
    "odd_tokens": (["joined", "renewed", "refused token-not-yet-valid"], []),
    "toggled_mutes": (["mutes", "mutes done", "heard event track.muted", "heard event track.unmuted"], []),
}
"""For each deed what has been counted where it was really done, and for which reasons its offers are refused besides
`rate-limited`."""
DEEDS = list(EVIDENCE)
REFUSALS = {"refused bad-message", "refused offer-refused", "refused offer-pending", "refused unsupported"}
"""Reasons for which an offer of a deed isn't even looked at, unless it is made for that."""


def missing(name, counts):
    """What a deed that was really done would have counted, and what it should never count."""
    wanted, reasons = EVIDENCE[name]
    unexpected = [each for each in counts if each.startswith("wrong: ") or each in REFUSALS and each.split()[1] not in reasons]
    return [f"no {each}" for each in wanted if not counts[each]] + unexpected
