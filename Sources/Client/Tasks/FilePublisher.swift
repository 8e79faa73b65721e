internal import Crypto
package import Model
package import Negotiation
package import Signalling

/// Publishes a file into a room: each frame when its time has come, and to the end. What is asked for again is sent again; key frames
/// are where the file has them, and are not made when they are asked for.
package final class FilePublisher: ClientTask {
  /// One track that is published.
  package struct Track: Equatable, Sendable {
    package var codec: Codec
    /// The server's.
    package var id = ""
    package var counts = TrackSender.Counts()
  }

  /// From when there is a path to the first frame, so that the first ones aren't late.
  private static let lead = Duration.milliseconds(50)
  /// When after the last frame the ends of tracks are sent once more.
  private static let repetitions: [Duration] = [.milliseconds(100), .milliseconds(400)]
  /// How long the last packets may be asked for again.
  private static let linger = Duration.seconds(1)

  package private(set) var tracks: [Track]
  package private(set) var participant = ""
  /// Called once media flows.
  package var onBegin: () -> Void = {}
  private let source: FileSource
  private let offered: [TrackAnnouncement]
  private var time = PlayTime()
  private var first = Instant.never
  private var lastSent = Instant.never
  private var endsRepeated = 0
  private var senders: [Int] = []

  package init(_ source: FileSource) {
    self.source = source
    tracks = source.tracks.map { Track(codec: $0) }
    offered = source.tracks.map { codec in
      TrackAnnouncement(
        kind: codec.kind, ssrc: Random.integer(UInt32.self) | 1, cname: MediaEnd.cname, streamID: "file",
        trackID: codec.kind == .audio ? "sound" : "picture")
    }
  }

  package var plan: OfferPlan { OfferPlan(tracks: offered) }
  package var codecs: [Codec] { tracks.map(\.codec).filter { $0.kind == .video } }
  package var isReceiver: Bool { false }
  package var passes: Int { source.passes }
  /// Nanoseconds that were played.
  package var played: Int64 {
    first == .never || lastSent == .never ? 0 : max(0, lastSent.nanoseconds - first.nanoseconds)
  }

  package func take(
    _ message: ServerMessage.Content, _ session: ClientSession, now: Instant
  ) throws(ClientError) {
    switch message {
    case .joined(let joined): participant = joined.participant.id
    case .answer(let answer):
      guard let media = session.media else { return }
      for (place, announcement) in offered.enumerated() {
        let section = media.agreed.send.first { $0.ssrc == announcement.ssrc }
        guard let section else {
          let mid = "\(place)"
          let word = answer.declined.first { $0.mid == mid }?.code ?? "refused"
          throw .declined(codec: tracks[place].codec.encodingName, word: word)
        }
        tracks[place].id = answer.tracks.first { $0.mid == section.mid }?.track ?? ""
      }
    default: break
    }
  }

  // MARK: - Time

  package var deadline: Instant {
    guard time.start != .never else { return .never }
    if source.isOver {
      let wait = endsRepeated < Self.repetitions.count ? Self.repetitions[endsRepeated] : Self.linger
      return lastSent == .never ? time.start : lastSent + wait
    }
    // What comes from a pipe says nothing of when.
    guard let next = source.nextTime else { return lastPolled + .milliseconds(10) }
    return time.start.advanced(byNanoseconds: next)
  }
  private var lastPolled = Instant(nanoseconds: 0)

  package func poll(_ session: ClientSession, now: Instant) throws(ClientError) -> Bool {
    lastPolled = now
    guard let media = session.media, media.isConnected else { return false }
    if time.start == .never { try begin(media, now: now) }
    do throws(MediaFileError) { try source.fill(until: time.due(now: now)) } catch { throw .file(error) }
    time.turn(now: now, next: source.nextTime)
    while let frame = source.next(until: time.due(now: now)) {
      media.send(
        frame.bytes, at: time.start.advanced(byNanoseconds: frame.time), track: senders[frame.track], now: now
      )
      lastSent = now
    }
    time.rest(isStarving: source.nextTime == nil && !source.isOver)
    for (track, sender) in senders.enumerated() { tracks[track].counts = media.senders[sender].counts }
    if source.isOver, endsRepeated < Self.repetitions.count, lastSent != .never,
      now - lastSent >= Self.repetitions[endsRepeated]
    {
      endsRepeated += 1
      media.repeatEnds()
    }
    return source.isOver && (lastSent == .never || now - lastSent >= Self.linger)
  }

  private func begin(_ media: MediaEnd, now: Instant) throws(ClientError) {
    first = now + Self.lead
    time.begin(at: first)
    for (place, announcement) in offered.enumerated() {
      let codec = tracks[place].codec
      guard let section = media.agreed.send.first(where: { $0.ssrc == announcement.ssrc }),
        let sender = media.send(codec, in: section, now: first)
      else { throw .declined(codec: codec.encodingName, word: "codec") }
      senders.append(sender)
    }
    onBegin()
  }
}
