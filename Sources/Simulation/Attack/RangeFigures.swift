internal import Engine
internal import ICE
internal import Media
internal import Model
internal import Peer
internal import SyntheticPeers
internal import Transport

/// What an operator sees of an attack, over both workers.
extension AttackRange {
  /// Everything that is dropped, refused or given up, by its reason; families other than packets' with their name
  /// before a dot.
  package func reasons() -> [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for report in server.reports(now: now) {
      for reason in PeerDrop.allCases { counts["\(reason)", default: 0] += report.counters[reason] }
      for reason in HandshakeFailure.allCases {
        counts["handshake.\(reason)", default: 0] += report.counters[reason]
      }
      for reason in PeerCloseReason.allCases {
        counts["ended.\(reason)", default: 0] += report.routing[reason]
      }
      for reason in ICEDrop.allCases {
        counts["stun.\(reason.name)", default: 0] += report.iceDrops[reason]
      }
      let routing = report.routing
      for (name, count) in [
        ("unreadable", routing.unreadable), ("noProtocol", routing.noProtocol),
        ("unknownPath", routing.unknownPath), ("unknownFragment", routing.unknownFragment),
        ("checksRepeated", routing.checksRepeated), ("checksOfOnePeer", routing.checksOfOnePeer),
        ("checksDropped", routing.checksDropped), ("handoverFull", routing.handoverDropped),
        ("relayFull", report.relaying.relayDropped), ("pathTableFull", routing.pathTableFull),
        ("messagesFull", routing.messagesDropped), ("historyMissed", report.relaying.historyMissed),
        ("abandonedPaths", report.counters.transport.pathsAbandoned),
      ] { counts[name, default: 0] += count }
    }
    return counts
  }

  /// Reasons that came up since `before`, and how often.
  package func risen(since before: [String: UInt64]) -> [String: UInt64] {
    reasons().reduce(into: [:]) { risen, entry in
      let rise = entry.value - (before[entry.key] ?? 0)
      if rise > 0 { risen[entry.key] = rise }
    }
  }

  /// Sizes of all tables.
  package func sizes() -> [String: Int] {
    var sizes: [String: Int] = [:]
    for report in server.reports(now: now) {
      for (name, size) in [
        ("peers", report.peers), ("connected", report.connectedPeers), ("tracks", report.tracks),
        ("audio", report.audioTracks), ("video", report.videoTracks), ("paths", report.paths),
        ("timers", report.timers), ("homes", report.homeRecords), ("fragments", report.fragments),
        ("pendingChecks", report.pendingChecks), ("pairs", report.transports.pairs),
        ("consumers", report.consumers),
        ("streams", report.transports.streams),
        ("authenticatedStreams", report.transports.authenticatedStreams),
      ] { sizes[name, default: 0] += size }
    }
    sizes["levels"] = server.bridge.levels().count
    // The last value of each peer that there was something to report of: at most one a peer.
    sizes["qualitiesOfNoPeer"] = max(0, server.bridge.qualities().count - sizes["peers", default: 0])
    return sizes
  }

  package func done() -> RangeWork {
    var done = RangeWork()
    for report in server.reports(now: now) {
      done.sent += report.counters.transport.packetsSent
      done.retransmitted += report.counters.media.retransmissionsSent
      done.nacked += report.counters.media.nackedPackets
      done.keyFrameRequests += report.counters.media.keyFrameRequestsReceived
      done.requests += report.counters.media.keyFrameRequestsSent
      done.restarts += report.routing.iceRestarts
    }
    return done
  }
}
