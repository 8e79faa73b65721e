internal import Engine
internal import Media
internal import Model
internal import Peer
internal import SyntheticPeers
internal import Transport

extension Conference {
  /// Nothing is left of anybody.
  func auditTables() {
    for participant in participants where participant.key != nil && participant.connection.closedAt == .never
    {
      journal.violation(now, "the server never said that peer \(participant.number) is gone")
    }
    var malformed: UInt64 = 0
    for report in server.reports(now: now) {
      let left = [
        ("peers", report.peers), ("tracks", report.tracks), ("paths", report.paths),
        ("timers", report.timers), ("home records", report.homeRecords), ("fragments", report.fragments),
        ("pending checks", report.pendingChecks), ("consumers", report.consumers),
      ]
      for (name, count) in left where count != 0 {
        journal.violation(now, "worker \(report.worker) has \(count) \(name) left")
      }
      let counters = report.counters
      for reason in [
        PeerDrop.transport(.sealRefused), .transport(.sealFailed), .transport(.srtpMalformed),
        .transport(.srtpOther), .transport(.unknownProtocol), .transport(.dtlsMalformed),
        .media(.rtpMalformed),
        .media(.rtcpMalformed), .media(.unknownPayloadType), .media(.streamTableFull),
      ] where counters[reason] != 0 {
        journal.violation(now, "worker \(report.worker) dropped \(counters[reason]) for \(reason)")
      }
      // Who leaps far, and loses what was between, leaves the estimate of the index behind.
      if counters[.srtpAuthentication] != 0,
        !participants.contains(where: { !$0.peer.hostility.kept.isEmpty })
      {
        journal.violation(now, "worker \(report.worker) refused \(counters[.srtpAuthentication]) packets")
      }
      malformed += counters[.payloadMalformed]
      let routing = report.routing
      let losses = [
        ("handovers", routing.handoverDropped), ("relayed packets", report.relaying.relayDropped),
        ("packets for sinks", report.relaying.sinkDropped),
        ("messages", routing.messagesDropped), ("paths for want of room", routing.pathTableFull),
        ("datagrams of no protocol", routing.noProtocol),
      ]
      for (name, count) in losses where count != 0 {
        journal.violation(now, "worker \(report.worker) lost \(count) \(name)")
      }
      journal.count(.adoption, Int(routing.adopted))
      journal.count(.handover, Int(routing.handedOver))
      journal.count(.relay, Int(report.relaying.relayed))
      journal.count(.pictureReplay, Int(report.relaying.pictureReplays))
    }
    // Each that was sent may come twice.
    let sent = participants.reduce(0) { $0 + $1.peer.hostility.malformedSent }
    if malformed > 2 * UInt64(sent) {
      journal.violation(now, "\(malformed) payloads were malformed, where \(sent) were sent so")
    }
  }
}
