internal import Codecs
internal import Model
internal import Polling
internal import SyntheticPeers

/// What the encoders of a load run made, in the order of each publisher.
enum Made: Sendable {
  /// A picture, with its number; counted from 0.
  case picture(publisher: Int, number: Int, EncodedFrame)
  case sound(publisher: Int, EncodedFrame)
  /// A picture that was due, and wasn't begun before the next one was: this machine has too little time.
  case missed(publisher: Int)
  case failed(publisher: Int, CodecError)
}

/// The cameras and microphones of all publishers, with their encoders, on threads of their own: what a picture takes to
/// encode holds up no datagram.
final class Encoders {
  enum Order: Sendable {
    /// From a moment on; the tone is that of a place in the room.
    case begin(publisher: Int, place: Int, at: Instant)
    case keyFrame(publisher: Int)
    case end(publisher: Int)
  }

  private let threads: [WorkThread<Order>]

  /// - Parameters:
  ///   - threads: among which publishers are shared out.
  ///   - made: takes what is made; called on those threads.
  init(
    threads: Int, now: @escaping @Sendable () -> Instant, made: @escaping @Sendable (Made) -> Void
  ) throws(LoadError) {
    var all: [WorkThread<Order>] = []
    for _ in 0..<threads {
      // A publisher orders a few key frames a second at most.
      all.append(
        try WorkThread(limit: 65_536, now: now) {
          let encoders = EncodersOfThread(now: now, made: made)
          return WorkThread.Work(take: { encoders.take($0) }, poll: { encoders.poll() })
        })
    }
    self.threads = all
  }

  func post(_ order: Order) {
    switch order {
    case .begin(let publisher, _, _), .keyFrame(let publisher), .end(let publisher):
      threads[publisher % threads.count].post(order)
    }
  }

  func stop() { for thread in threads { thread.stop() } }
}

/// The publishers of one thread.
private final class EncodersOfThread {
  private let now: () -> Instant
  private let made: (Made) -> Void
  private var publishers: [Int: PublisherEncoder] = [:]

  init(now: @escaping () -> Instant, made: @escaping (Made) -> Void) {
    self.now = now
    self.made = made
  }

  func take(_ order: Encoders.Order) {
    switch order {
    case .begin(let publisher, let place, let at):
      do throws(CodecError) {
        publishers[publisher] = try PublisherEncoder(publisher: publisher, place: place, at: at)
      } catch { made(.failed(publisher: publisher, error)) }
    case .keyFrame(let publisher): publishers[publisher]?.wantsKeyFrame = true
    case .end(let publisher): publishers[publisher] = nil
    }
  }

  /// Whatever is due the longest is made first.
  func poll() -> Instant {
    while let next = publishers.values.min(by: { $0.due < $1.due }) {
      guard next.due <= now() else { return next.due }
      do throws(CodecError) {
        for result in try next.makeNext(now: now()) { made(result) }
      } catch {
        publishers[next.publisher] = nil
        made(.failed(publisher: next.publisher, error))
      }
    }
    return .never
  }
}
