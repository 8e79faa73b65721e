internal import Model
internal import Peer
internal import Transport

extension WorkerCore {
  func report() -> WorkerReport {
    var report = WorkerReport()
    report.worker = index
    report.peers = peers.count
    report.connectedPeers = peers.occupied.count { peers.pointer($0).pointee.isConnected }
    report.tracks = feeds.table.count
    report.audioTracks = feeds.table.publishedCount(.audio)
    report.videoTracks = feeds.table.publishedCount(.video)
    report.paths = routing.claims.count
    report.timers = peers.timerCount
    report.homeRecords = routing.homes.count
    report.fragments = routing.fragments.count
    report.pendingChecks = routing.pending.count
    report.consumers = feeds.table.consumerCount
    for place in peers.occupied {
      report.transports.pairs += peers.pointer(place).pointee.pairCount
      report.transports.streams += peers.pointer(place).pointee.streamCount
      report.transports.authenticatedStreams += peers.pointer(place).pointee.authenticatedStreamCount
    }
    report.counters = context.counters
    report.transports.flightRecorders = context.flight.recorders
    report.transports.flightBytes = context.flight.used
    report.routing = routing.counters
    report.relaying = feeds.counters
    report.sending = sending
    report.thread.niceness = niceness
    report.thread.standIns = standIns
    report.iceDrops = context.transport.iceCounters
    report.thread.times = times
    report.thread.times.handshakes = context.transport.handshakes
    report.stocks.historyBytes = feeds.table.historyBytes
    for place in peers.occupied {
      report.stocks.waitingPackets += peers.pointer(place).pointee.waitingPackets
    }
    return report
  }
}
