internal import Codecs
internal import Model
internal import SyntheticPeers

/// A stream of media as one subscriber gets it.
struct StreamName: Hashable, Sendable {
  /// The subscriber's number.
  var subscriber: Int
  /// The place of its slot among its streams.
  var stream: Int
}

/// What became of a picture or a frame of sound that was given to a decoder.
struct Decoded: Sendable {
  enum Result: Equatable, Sendable {
    case picture(MarkedPicture)
    case wrongPicture(MarkedPicture.Fault)
    /// A coded picture that is not to be shown: nothing here makes such.
    case noPicture
    /// Whether it was the tone that it should be; nil where that wasn't known, or it wasn't and the decoder still comes back from
    /// a frame that was lost.
    case sound(isRight: Bool?)
    case lostSound
    case failed(CodecError)
  }

  var name: StreamName
  /// Whose it should be.
  var publisher: Int?
  var result: Result
  /// A picture that needs no other.
  var isKeyFrame = false
  /// When the last packet of it came, and when it was decoded.
  var arrivedAt: Instant
  var decodedAt: Instant
}

/// The decoders of all subscribers, on threads of their own; those of one stream on one, so that their order stays.
final class Decoders {
  struct Order: Sendable {
    enum Content: Sendable {
      case picture([UInt8])
      /// Nil: a frame that never came. The tone is the one that it should be; nil where that isn't known.
      case sound([UInt8]?, Tone?)
    }

    var name: StreamName
    /// Whose it should be; nil where that isn't known.
    var publisher: Int?
    var content: Content
    var arrivedAt: Instant
  }

  private let threads: [WorkThread<Order>]
  /// Frames that wait for a decoder, at most.
  private static let limit = 8_192

  init(
    threads: Int, now: @escaping @Sendable () -> Instant, decoded: @escaping @Sendable (Decoded) -> Void
  ) throws(LoadError) {
    var all: [WorkThread<Order>] = []
    for _ in 0..<threads {
      all.append(
        try WorkThread(limit: Self.limit, now: now) {
          let decoders = DecodersOfThread(now: now, decoded: decoded)
          return WorkThread.Work(take: { decoders.take($0) })
        })
    }
    self.threads = all
  }

  /// - Returns: false where so much waits that it is left out.
  func post(_ order: Order) -> Bool {
    threads[(order.name.subscriber * 31 + order.name.stream) % threads.count].post(order)
  }

  func stop() { for thread in threads { thread.stop() } }
}

/// The decoders of one thread.
private final class DecodersOfThread {
  private let now: () -> Instant
  private let decoded: (Decoded) -> Void
  private var video: [StreamName: VP8Decoder] = [:]
  private var audio: [StreamName: Ear] = [:]
  /// Pixels of a picture's side, at most: what is larger is no picture of ours.
  private static let longestSide = 1_280

  init(now: @escaping () -> Instant, decoded: @escaping (Decoded) -> Void) {
    self.now = now
    self.decoded = decoded
  }

  func take(_ order: Decoders.Order) {
    let result: Decoded.Result
    var isKeyFrame = false
    switch order.content {
    case .picture(let bytes):
      // RFC 6386 §9.1: the first bit is 0 of a key frame.
      isKeyFrame = bytes.first.map { $0 & 1 == 0 } ?? false
      result = show(order.name, bytes)
    case .sound(let bytes, let tone): result = play(order.name, bytes, tone)
    }
    decoded(
      Decoded(
        name: order.name, publisher: order.publisher, result: result, isKeyFrame: isKeyFrame,
        arrivedAt: order.arrivedAt, decodedAt: now()))
  }

  private func show(_ name: StreamName, _ bytes: [UInt8]) -> Decoded.Result {
    let picture: Picture?
    do throws(CodecError) {
      picture = try decoder(name).decode(bytes)
    } catch { return .failed(error) }
    guard let picture else { return .noPicture }
    do throws(MarkedPicture.Fault) {
      return .picture(try MarkedPicture(reading: picture))
    } catch { return .wrongPicture(error) }
  }

  private func play(_ name: StreamName, _ bytes: [UInt8]?, _ tone: Tone?) -> Decoded.Result {
    do throws(CodecError) {
      var ear: Ear
      if let known = audio[name] { ear = known } else { ear = try Ear() }
      defer { audio[name] = ear }
      guard let bytes else {
        try ear.miss()
        return .lostSound
      }
      return .sound(isRight: try ear.hear(tone, in: bytes))
    } catch { return .failed(error) }
  }

  private func decoder(_ name: StreamName) throws(CodecError) -> VP8Decoder {
    if let known = video[name] { return known }
    let new = try VP8Decoder(longestSide: Self.longestSide)
    video[name] = new
    return new
  }
}
