internal import Engine
internal import Media
internal import Model
internal import SyntheticPeers
internal import Wire

/// One sink of a conference: what it asked for, and what it was given, each packet held against what its publisher sent.
final class SinkRecord {
  let sink: TrackSink
  let track: PublishedTrack
  let worker: Int
  /// When it asked for key frames, and whether none has come since.
  private(set) var keyFrameAsks: [Instant] = []
  private var awaitsKeyFrame = false
  /// The first and the last packet by their arrival at the server.
  private(set) var first = Instant.never
  private(set) var last = Instant(nanoseconds: .min)
  private var seen: Set<UInt32> = []
  /// By the source's number.
  private var asked: Set<Int64> = []
  private var recent: [Int64] = []

  init(_ key: TrackKey, of track: PublishedTrack, at worker: Int) {
    sink = TrackSink(key, wake: {})
    self.track = track
    self.worker = worker
  }

  /// A number that came a moment ago, to be asked for again.
  var repeatable: Int64? { recent.first }

  func ask(again sequence: Int64) { asked.insert(sequence) }
  func askForKeyFrame(now: Instant) {
    keyFrameAsks.append(now)
    awaitsKeyFrame = true
  }
  func has(_ packet: Int) -> Bool { seen.contains(UInt32(packet)) }

  /// Takes what waits.
  /// - Returns: what is wrong with it.
  func take(_ journal: Journal) -> [String] {
    var problems: [String] = []
    sink.take { bytes, info in
      if let problem = note(bytes, info, journal) { problems.append(problem) }
    }
    return problems
  }

  private func note(_ bytes: UnsafeRawBufferPointer, _ info: PacketInfo, _ journal: Journal) -> String? {
    let payload = Int(info.payloadOffset)..<Int(info.payloadOffset) + Int(info.payloadSize)
    guard let header = try? RTPHeader(bytes), payload.upperBound <= bytes.count,
      let stamp = PayloadFormat.stamp(
        UnsafeRawBufferPointer(rebasing: bytes[payload]), info.format.codec,
        primaryOffset: Int(info.primaryOffset))
    else { return "a packet that no source of ours made" }
    guard Int(stamp.publisher) == track.publisher, Int(stamp.track) == track.index,
      Int(stamp.packet) < track.packets.count
    else { return "a packet of another track" }
    let packet = track.packets[Int(stamp.packet)]
    guard header.sequence == packet.sequence, header.timestamp == packet.timestamp,
      UInt16(truncatingIfNeeded: info.extendedSequence) == packet.sequence,
      info.timestamp == packet.timestamp, info.format.codec == packet.codec
    else { return "packet \(stamp.packet) with another head" }
    let startsKeyFrame = track.kind == .video && packet.isKeyFrame && packet.startsFrame
    guard info.flags.contains(.keyFrame) == startsKeyFrame else {
      return "packet \(stamp.packet), of which it is not said right whether a key frame starts there"
    }
    if !seen.insert(stamp.packet).inserted {
      guard asked.remove(info.extendedSequence) != nil else { return "packet \(stamp.packet) twice" }
      journal.count(.sinkRepeated)
      return nil
    }
    first = min(first, info.arrival)
    last = max(last, info.arrival)
    recent.append(info.extendedSequence)
    if recent.count > 8 { recent.removeFirst() }
    if startsKeyFrame, awaitsKeyFrame, let asked = keyFrameAsks.last, info.arrival > asked {
      awaitsKeyFrame = false
      journal.count(.sinkKeyFrame)
    }
    return nil
  }
}
