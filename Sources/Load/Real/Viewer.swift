internal import Model
internal import SyntheticPeers

/// A subscriber of real media: its streams are put together and given to decoders, and what they say is counted.
final class Viewer {
  /// What is on its way from a packet to a decoded picture.
  private enum Stream {
    case pictures(PictureAssembler)
    case sound(SoundAssembler)
  }

  /// What it got of one publisher.
  struct Share {
    var pictures = PictureTally()
    /// Frames of sound of any time that were right.
    var heard = 0
    /// While measuring goes on; there is no number in a sound that says when it was made.
    var right = 0
    var wrong = 0
  }

  let participant: Participant
  private var streams: [Int: Stream] = [:]
  /// Whose pictures came last in a stream.
  private var shownIn: [Int: Int] = [:]
  /// Streams that came to show a publisher, or began again with a key frame, and since then no picture of it that wasn't shown before: it
  /// moved there, or was paused, and the server begins with the last key frame and what followed it.
  private var arriving: Set<Int> = []
  /// By the publishers that it is subscribed to.
  private(set) var shares: [Int: Share]
  var isMeasured = false
  private var isCounting = false
  /// Of the measured span.
  private(set) var delay = LatencyHistogram()
  private(set) var decoding = LatencyHistogram()
  private(set) var overruns = 0
  /// Of any time.
  private(set) var corrupt = 0
  private(set) var faults: [String: Int] = [:]
  private(set) var foreign = 0
  private(set) var shown = 0

  init(_ participant: Participant) {
    self.participant = participant
    shares = Dictionary(uniqueKeysWithValues: participant.role.sources.map { ($0, Share()) })
  }

  var hasSeenAll: Bool { shares.values.allSatisfy { $0.pictures.seen > 0 && $0.heard > 0 } }

  func begin(next: (Int) -> Int, now: Instant) {
    for publisher in shares.keys {
      shares[publisher]?.pictures.begin(at: next(publisher), now: now)
      shares[publisher]?.right = 0
      shares[publisher]?.wrong = 0
    }
    isCounting = true
    (delay, decoding, overruns) = (LatencyHistogram(), LatencyHistogram(), 0)
  }

  func end(next: (Int) -> Int, now: Instant) {
    isCounting = false
    for publisher in shares.keys { shares[publisher]?.pictures.end(at: next(publisher), now: now) }
  }

  // MARK: Packets

  /// - Parameters:
  ///   - tone: of a publisher.
  ///   - decode: gives it to a decoder; false where too much waits for one.
  func take(
    _ payload: EncodedPayload, now: Instant, tone: (Int) -> Tone?, decode: (Decoders.Order) -> Bool
  ) {
    guard let peer = participant.peer, peer.streams.indices.contains(payload.stream) else { return }
    var publisher: Int?
    switch participant.roster.owner(of: peer.streams[payload.stream].section.mid) {
    case .publisher(let number): publisher = number
    case .other:
      foreign += 1
      return
    case nil: publisher = paired(payload.stream, peer.streams.map(\.section.kind))
    }
    let name = StreamName(subscriber: participant.number, stream: payload.stream)
    switch streams[payload.stream] ?? Self.stream(of: payload.codec) {
    case .pictures(var assembler):
      for picture in assembler.take(payload, now: now) {
        let order = Decoders.Order(
          name: name, publisher: publisher, content: .picture(picture.bytes), arrivedAt: picture.at)
        if decode(order) { continue }
        overruns += 1
        assembler.startOver()
      }
      streams[payload.stream] = .pictures(assembler)
    case .sound(var assembler):
      for piece in assembler.take(payload, now: now) {
        var bytes: [UInt8]?
        if case .frame(let frame) = piece { bytes = frame }
        _ = decode(
          Decoders.Order(
            name: name, publisher: publisher, content: .sound(bytes, publisher.flatMap(tone)),
            arrivedAt: payload.at))
      }
      streams[payload.stream] = .sound(assembler)
    }
  }

  /// Where the server says of no slot whose it is, a sound is of the participant whose picture comes in the slot of the same
  /// place: slots are pairs.
  private func paired(_ stream: Int, _ kinds: [MediaKind]) -> Int? {
    guard kinds[stream] == .audio else { return nil }
    let place = kinds[..<stream].count { $0 == .audio }
    let pictures = kinds.indices.filter { kinds[$0] == .video }
    return place < pictures.count ? shownIn[pictures[place]] : nil
  }

  private static func stream(of codec: Codec) -> Stream {
    codec == .vp8 ? .pictures(PictureAssembler()) : .sound(SoundAssembler())
  }

  /// Asks for key frames where they are needed.
  /// - Returns: whether there is a request to be sent.
  func requestKeyFrames(now: Instant) -> Bool {
    var isOne = false
    for (index, stream) in streams {
      guard case .pictures(var assembler) = stream else { continue }
      if assembler.wantsKeyFrame(now: now) {
        participant.peer?.requestKeyFrame(stream: index)
        isOne = true
      }
      streams[index] = .pictures(assembler)
    }
    return isOne
  }

  // MARK: What decoders say

  /// - Parameters:
  ///   - captured: when each of a publisher's pictures was captured, by number.
  ///   - verified: called for a picture of the measured span, with when it was captured and how long it took.
  func take(
    _ decoded: Decoded, captured: (Int) -> [Instant], verified: (Instant, Int64) -> Void
  ) {
    switch decoded.result {
    case .picture(let picture):
      show(picture, decoded, captured: captured(picture.publisher), verified: verified)
    case .wrongPicture(let fault): note(corrupt: "a picture whose \(fault.words)", decoded)
    case .noPicture: note(corrupt: "a coded picture that is not to be shown", decoded)
    case .failed(let error): note(corrupt: "the decoder: \(error)", decoded)
    case .lostSound: break
    case .sound(let isRight):
      guard let isRight, let publisher = decoded.publisher else { return }
      if isRight {
        shares[publisher]?.heard += 1
        if isCounting { shares[publisher]?.right += 1 }
      } else if (shares[publisher]?.heard ?? 0) > 0 {
        // A decoder's first frames are quieter than what was encoded.
        shares[publisher]?.wrong += 1
      }
    }
  }

  private func show(
    _ picture: MarkedPicture, _ decoded: Decoded, captured: [Instant], verified: (Instant, Int64) -> Void
  ) {
    guard shares[picture.publisher] != nil, decoded.publisher ?? picture.publisher == picture.publisher
    else { return note(corrupt: "a picture of another publisher", decoded) }
    shown += 1
    let stream = decoded.name.stream
    let isOther = shownIn.updateValue(picture.publisher, forKey: stream) != picture.publisher
    if isOther || decoded.isKeyFrame { arriving.insert(stream) }
    do throws(PictureTally.Fault) {
      let isInSpan = try shares[picture.publisher]?.pictures.show(
        picture.number, sent: captured.count, now: decoded.decodedAt)
      arriving.remove(stream)
      guard isInSpan == true, isMeasured else { return }
    } catch {
      if error == .shownBefore, arriving.contains(stream) { return }
      return note(
        corrupt: error == .neverSent ? "a picture that was never sent" : "a picture that was shown before",
        decoded)
    }
    let sentAt = captured[picture.number]
    let span = decoded.decodedAt.nanoseconds - sentAt.nanoseconds
    delay.add(nanoseconds: span)
    decoding.add(nanoseconds: decoded.decodedAt.nanoseconds - decoded.arrivedAt.nanoseconds)
    verified(sentAt, span)
  }

  private static let faultLimit = 50

  /// What comes next refers to it: a key frame is asked for.
  private func note(corrupt fault: String, _ decoded: Decoded) {
    corrupt += 1
    if faults.count < Self.faultLimit || faults[fault] != nil { faults[fault, default: 0] += 1 }
    guard case .pictures(var assembler)? = streams[decoded.name.stream] else { return }
    assembler.startOver()
    streams[decoded.name.stream] = .pictures(assembler)
  }
}

extension MarkedPicture.Fault {
  fileprivate var words: String {
    switch self {
    case .size(let width, let height): "size is \(width) × \(height)"
    case .square: "number can't be read"
    case .checksum: "number has a wrong checksum"
    case .pattern: "pattern is not that of its number"
    }
  }
}
