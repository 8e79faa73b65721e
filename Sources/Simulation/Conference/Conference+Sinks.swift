internal import Engine
internal import Model
internal import SyntheticPeers

/// The sinks of a conference. They draw from numbers of their own, so that they change nothing else that happens.
struct SinkBooks {
  var random: RandomSource
  var open: [SinkRecord] = []

  init(seed: UInt64) { random = .seeded(state: ~seed &* 0x9E37_79B9_7F4A_7C15) }

  mutating func one(in count: UInt64) -> Bool { random.next() % count == 0 }
}

/// Consumers outside the workers get tracks beside the participants, ask for key frames and for packets again, and are held to
/// what subscribers are held to.
extension Conference {
  /// At once: a track may have several.
  private static let sinkLimit = 6

  /// One turn of all sinks: what waits is taken, some ask for something, one goes and one comes.
  func turnSinks() {
    takeSinks()
    for record in sinks.open {
      if record.track.kind == .video, sinks.one(in: 4) {
        record.askForKeyFrame(now: now)
        server.bridge.ask(.keyFrame, for: record.sink, at: record.worker)
      }
      if sinks.one(in: 3), let sequence = record.repeatable {
        record.ask(again: sequence)
        server.bridge.ask(.packet(sequence: sequence), for: record.sink, at: record.worker)
      }
    }
    if sinks.open.count == Self.sinkLimit || sinks.one(in: 8), !sinks.open.isEmpty {
      let record = sinks.open.remove(at: Int(sinks.random.next() % UInt64(sinks.open.count)))
      server.bridge.remove(record.sink, at: record.worker)
      judge(record)
    }
    addSink()
  }

  private func addSink() {
    let flowing = journal.tracks.filter {
      $0.endedAt == .never && !$0.isHostile && participants[$0.publisher].key != nil
        && participants[$0.publisher].isPresent && participants[$0.publisher].connection.connectedAt < now
    }
    guard !flowing.isEmpty else { return }
    let track = flowing[Int(sinks.random.next() % UInt64(flowing.count))]
    guard let peer = participants[track.publisher].key else { return }
    let record = SinkRecord(
      TrackKey(peer: peer, index: UInt16(track.index)), of: track,
      at: Int(sinks.random.next() % UInt64(plan.workers)))
    sinks.open.append(record)
    server.bridge.add(record.sink, kind: track.kind, at: record.worker)
  }

  /// Takes what waits for each sink; those whose track or worker has ended are judged.
  private func takeSinks() {
    for record in sinks.open {
      for problem in record.take(journal) {
        journal.violation(now, "a sink of \(record.track.name) got \(problem)")
      }
    }
    for record in sinks.open where record.sink.isEnded { judge(record) }
    sinks.open.removeAll { $0.sink.isEnded }
  }

  /// The conference is over for sinks as for participants.
  func endSinks() {
    takeSinks()
    for record in sinks.open {
      server.bridge.remove(record.sink, at: record.worker)
      judge(record)
    }
    sinks.open = []
  }

  /// Everything between its first packet and its last has come, and what it asked for was passed on.
  private func judge(_ record: SinkRecord) {
    guard record.first != .never else { return }
    journal.count(.sinkFed)
    let track = record.track
    for (number, packet) in track.packets.enumerated()
    where packet.arrivedAt > record.first && packet.arrivedAt < record.last && !record.has(number) {
      guard !isBesideBreak(number, of: track), !track.isHeld(from: packet.sentAt, until: packet.arrivedAt)
      else { continue }
      journal.violation(
        now,
        "packet \(number) of \(track.name), which came at \(packet.arrivedAt.milliseconds) ms, is missing at a sink"
      )
    }
    for asked in record.keyFrameAsks where record.first < asked { judgeAsk(asked, by: record) }
  }

  /// Who asks for a key frame has its publisher asked, if that agreed to be, unless it was asked within the last second.
  private func judgeAsk(_ asked: Instant, by record: SinkRecord) {
    let track = record.track
    let publisher = participants[track.publisher]
    let before = asked.advanced(byNanoseconds: -1_100_000_000)
    let after = asked.advanced(byNanoseconds: 100_000_000)
    guard track.takesKeyFrameRequests, publisher.connection.connectedAt < before, after < record.last,
      after < min(publisher.presence.leftAt, stoppedAt, track.endedAt),
      // Without a path there is no one to ask; a source under another SSRC isn't known before its first packet.
      !publisher.isDisturbed(from: before, until: after), !track.isHeld(from: before, until: after),
      !track.runs.contains(where: { before < $0.startedAt && $0.startedAt < after && $0.firstPacket > 0 }),
      !track.keyFrameRequests.contains(where: { before <= $0 && $0 <= after })
    else { return }
    journal.violation(
      now,
      "a sink of \(track.name) asked for a key frame at \(asked.milliseconds) ms, and the publisher was not asked"
    )
  }

  /// Where numbers leap or the source starts over, a packet alone says nothing yet, and what comes late belongs to nothing.
  private func isBesideBreak(_ number: Int, of track: PublishedTrack) -> Bool {
    // Two in line confirm a leap, which those that overtake each other or are lost put off.
    let packet = track.packets[number]
    var (back, came) = (number - 1, 0)
    while back >= 0, came < 8 {
      let before = track.packets[back]
      if before.run != packet.run || before.sentAt == .never { return true }
      if before.arrivedAt <= packet.arrivedAt { came += 1 }
      back -= 1
    }
    return (number...min(number + 200, track.packets.count - 1)).contains {
      // Numbers that were never sent: those over which the source leapt.
      track.packets[$0].run != packet.run || track.packets[$0].sentAt == .never
    }
  }
}
