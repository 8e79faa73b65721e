internal import Engine
internal import ICE
internal import Media
internal import Peer
internal import Transport

/// What the media workers count, as metrics. Each table names every counter of its kind once; a test holds them
/// to that.
enum WorkerMetrics {
  struct Row<Counters>: Sendable {
    var path: any KeyPath<Counters, UInt64> & Sendable
    var name: String
    var help: String

    init(_ path: any KeyPath<Counters, UInt64> & Sendable, _ name: String, _ help: String) {
      self.path = path
      self.name = name
      self.help = help
    }
  }

  static let peer: [Row<PeerCounters>] = [
    Row(
      \.transport.packetsReceived, "roost_received_packets_total",
      "Media packets (SRTP and SRTCP) from peers."),
    Row(\.transport.bytesReceived, "roost_received_bytes_total", "Their bytes."),
    Row(
      \.transport.packetsSent, "roost_sent_packets_total",
      "Media packets (SRTP) for peers, retransmissions by RTX among them."),
    Row(\.transport.bytesSent, "roost_sent_bytes_total", "Their bytes."),
    Row(
      \.media.retransmissionsSent, "roost_sent_retransmissions_total",
      "Packets retransmitted to subscribers on request."),
    Row(
      \.media.retransmissionsReceived, "roost_received_retransmissions_total",
      "Packets retransmitted by publishers on request."),
    Row(
      \.media.keyFrameRequestsSent, "roost_sent_key_frame_requests_total",
      "Key frames requested from publishers (PLI)."),
    Row(
      \.media.nackedPackets, "roost_received_nacked_packets_total",
      "Packets that subscribers reported missing (NACK)."),
    Row(
      \.transport.feedbackSent, "roost_sent_rtcp_packets_total",
      "RTCP packets for peers: reports, requests, feedback."),
    Row(
      \.media.keyFrameRequestsReceived, "roost_received_key_frame_requests_total",
      "Key frames requested by subscribers (PLI, FIR)."),
    Row(
      \.transport.pathsAbandoned, "roost_abandoned_paths_total",
      "Addresses given up because they didn't answer the server's check."),
  ]

  static let routing: [Row<RoutingCounters>] = [
    Row(\.received, "roost_received_datagrams_total", "Datagrams read from the media port."),
    Row(
      \.checksAsked, "roost_checks_asked_total",
      "Connectivity checks that a worker asked the peer's home worker about."),
    Row(
      \.adopted, "roost_peers_adopted_total",
      "Peers adopted by the worker whose socket got their first valid check."),
    Row(
      \.handedOver, "roost_handed_over_datagrams_total",
      "Datagrams passed on to the worker that has the peer."),
    Row(
      \.takenOver, "roost_taken_over_datagrams_total", "Datagrams that another worker passed on to this one."),
    Row(\.iceRestarts, "roost_ice_restarts_total", "ICE restarts."),
  ]

  static let relaying: [Row<TrackCounters>] = [
    Row(\.relayed, "roost_relayed_packets_total", "Packets of tracks passed to other workers."),
    Row(
      \.relayReceived, "roost_relay_received_packets_total", "Packets of tracks received from other workers."),
    Row(
      \.historyMissed, "roost_retransmissions_missed_total",
      "Requested retransmissions that were no longer kept."),
    Row(
      \.pictureReplays, "roost_pictures_replayed_total",
      "Subscribers that started with a key frame from the history."),
  ]

  /// Datagrams that no peer got, by the reason: one family.
  static let datagramDrops: [(path: any KeyPath<WorkerReport, UInt64> & Sendable, reason: String)] = [
    (\.routing.unreadable, "unreadable"), (\.routing.noProtocol, "noProtocol"),
    (\.routing.unknownPath, "unknownPath"), (\.routing.unknownFragment, "unknownFragment"),
    (\.routing.checksRepeated, "checksRepeated"), (\.routing.checksOfOnePeer, "checksOfOnePeer"),
    (\.routing.checksDropped, "checksDropped"), (\.routing.handoverDropped, "handoverFull"),
    (\.relaying.relayDropped, "relayFull"), (\.relaying.sinkDropped, "sinkFull"),
    (\.routing.pathTableFull, "pathTableFull"), (\.routing.messagesDropped, "messagesFull"),
  ]

  static let sending: [Row<SendStatistics>] = [
    Row(\.calls, "roost_send_calls_total", "System calls that sent datagrams."),
    Row(\.datagrams, "roost_sent_datagrams_total", "Datagrams passed to the kernel."),
    Row(
      \.segmented, "roost_sent_segmented_datagrams_total",
      "Of these, datagrams sent in batches (GSO)."),
    Row(
      \.segmentationRefused, "roost_segmentation_refused_total",
      "Batches that the kernel refused and that were sent again one by one."),
  ]

  /// Datagrams that the kernel did not take: one family.
  static let sendDrops: [(path: any KeyPath<SendStatistics, UInt64> & Sendable, reason: String)] = [
    (\.droppedBufferFull, "bufferFull"), (\.droppedUnreachable, "unreachable"),
  ]

  static let sizes: [(path: any KeyPath<WorkerReport, Int> & Sendable, name: String, help: String)] = [
    (\.peers, "roost_peers", "Media transports of participants."),
    (\.connectedPeers, "roost_connected_peers", "Of these, those whose handshake is finished."),
    (
      \.tracks, "roost_forwarded_tracks",
      "Tracks that a worker distributes, published on it or relayed to it by another."
    ),
    (\.paths, "roost_paths", "Addresses from which peers are known to send."),
    (\.timers, "roost_timers", "Peers with a timer."),
    (\.homeRecords, "roost_home_records", "Peers whose home is a worker, wherever they are now."),
    (\.fragments, "roost_ice_fragments", "ICE user name fragments that a worker answers to."),
    (\.pendingChecks, "roost_pending_checks", "Connectivity checks whose home has not answered yet."),
    (\.transports.pairs, "roost_ice_pairs", "Addresses that peers were heard from, proven or not."),
    (
      \.transports.flightRecorders, "roost_flight_recorders",
      "Flight recorders of media transports that have recorded something."
    ),
    (\.transports.flightBytes, "roost_flight_recorder_bytes", "Memory of those flight recorders."),
    (\.consumers, "roost_track_consumers", "Slots of subscribers that tracks are given to."),
    (\.transports.streams, "roost_received_streams", "SSRCs of publishers that are mapped to tracks."),
    (
      \.transports.authenticatedStreams, "roost_authenticated_streams",
      "SSRCs of which peers sent authenticated packets recently, mapped or not."
    ),
  ]

  /// - Parameter reports: by worker; nil for one that did not answer.
  static func write(_ reports: [WorkerReport?], to exposition: inout Exposition) {
    let answered = reports.enumerated().compactMap { number, report in report.map { (String(number), $0) } }
    exposition.family(
      "roost_worker_up", .gauge, "Whether a media worker answered within a second.",
      reports.enumerated().map { .init($1 == nil ? 0 : 1, ("worker", String($0))) })
    exposition.family(
      "roost_worker_niceness", .gauge, "The scheduler's niceness of a media worker's thread.",
      answered.map { .init($1.thread.niceness, ("worker", $0)) })
    exposition.family(
      "roost_worker_stand_ins_total", .counter,
      "Turns that other workers' threads took for a media worker while its own waited.",
      answered.map { .init($1.thread.standIns, ("worker", $0)) })
    for (path, name, help) in sizes {
      exposition.family(name, .gauge, help, answered.map { .init($1[keyPath: path], ("worker", $0)) })
    }
    exposition.family(
      "roost_tracks", .gauge, "Tracks that participants publish.",
      answered.flatMap { worker, report in
        [
          .init(report.audioTracks, ("worker", worker), ("kind", "audio")),
          .init(report.videoTracks, ("worker", worker), ("kind", "video")),
        ]
      })
    writeTimes(answered, to: &exposition)
    write(peer, of: answered.map { ($0, $1.counters) }, to: &exposition)
    write(routing, of: answered.map { ($0, $1.routing) }, to: &exposition)
    write(relaying, of: answered.map { ($0, $1.relaying) }, to: &exposition)
    write(sending, of: answered.map { ($0, $1.sending) }, to: &exposition)
    writeDrops(answered, to: &exposition)
  }

  private static func write<Counters>(
    _ rows: [Row<Counters>], of workers: [(String, Counters)], to exposition: inout Exposition
  ) {
    for row in rows {
      exposition.family(
        row.name, .counter, row.help, workers.map { .init($1[keyPath: row.path], ("worker", $0)) })
    }
  }

  private static func writeDrops(_ workers: [(String, WorkerReport)], to exposition: inout Exposition) {
    exposition.family(
      "roost_dropped_packets_total", .counter, "Media packets dropped on their way in or out.",
      workers.flatMap { worker, report in
        PeerDrop.allCases.map {
          .init(report.counters[$0], ("worker", worker), ("reason", "\($0)"))
        }
      })
    exposition.family(
      "roost_dropped_stun_total", .counter, "STUN messages that were dropped.",
      workers.flatMap { worker, report in
        ICEDrop.allCases.map { .init(report.iceDrops[$0], ("worker", worker), ("reason", $0.name)) }
      })
    exposition.family(
      "roost_dropped_datagrams_total", .counter,
      "Datagrams that reached no peer or were lost between workers.",
      workers.flatMap { worker, report in
        datagramDrops.map {
          .init(report[keyPath: $0.path], ("worker", worker), ("reason", $0.reason))
        }
      })
    exposition.family(
      "roost_failed_handshakes_total", .counter, "Failed DTLS handshakes; each ended its peer.",
      workers.flatMap { worker, report in
        HandshakeFailure.allCases.map {
          .init(report.counters[$0], ("worker", worker), ("reason", "\($0)"))
        }
      })
    exposition.family(
      "roost_peers_ended_total", .counter, "Media transports that ended.",
      workers.flatMap { worker, report in
        PeerCloseReason.allCases.map {
          .init(report.routing[$0], ("worker", worker), ("reason", $0.rawValue))
        }
      })
    exposition.family(
      "roost_unsent_datagrams_total", .counter, "Datagrams that the kernel refused.",
      workers.flatMap { worker, report in
        sendDrops.map { .init(report.sending[keyPath: $0.path], ("worker", worker), ("reason", $0.reason)) }
      })
  }
}
