internal import Congestion
public import Crypto
public import ICE
public import Model
internal import Negotiation
package import Wire

/// A far end such as a browser is, in one process with the server: real ICE, real DTLS in either role, SRTP by
/// libsrtp. It publishes, subscribes, repairs what is lost, and checks every byte that it gets.
///
/// Sans-I/O: datagrams that it sends wait in `outgoing`.
public final class SyntheticPeer {
  /// A datagram to be sent.
  public struct Outgoing {
    public var bytes: [UInt8]
    public var path: NetworkPath
    /// See `DatagramMark`; 0 for what isn't media.
    public var tag: UInt64
  }

  public let configuration: PeerConfiguration
  let journal: Journal
  var random: RandomSource
  public var outgoing: [Outgoing] = []
  public internal(set) var isClosed = false

  var transport: PeerTransport
  /// Once the handshake is done.
  var session: SRTPSession?
  /// When it had the keys.
  public package(set) var connectedAt = Instant.never
  package var descriptions: PeerDescriptions
  package var hostility = Hostility()

  // Media.
  package var sources: [TrackSource] = []
  package var layered: [LayeredSource] = []
  package var encoded = EncodedMedia()
  package var streams: [ReceivedStream] = []
  /// Media and retransmission SSRCs of `streams`.
  var streamIndex: [UInt32: Int] = [:]
  var feedback: PeerFeedback
  /// Asked for each packet: what is wrong with its coming in that slot.
  package var judge: (_ slot: Int, PayloadStamp, _ sentAt: Instant) -> String? = { _, _, _ in nil }
  /// Called with each sender report that comes.
  package var onSenderReport: (_ stream: Int, SenderReport) -> Void = { _, _ in }
  /// Called with each media packet that was opened and found to be as it was sent.
  package var onPacket: (MediaArrival) -> Void = { _ in }
  package var network = NetworkTerms()

  /// What network it is on, and what came of it.
  package struct NetworkTerms {
    /// On a real network datagrams that libsrtp refuses are counted and no violation, since anything may come; and
    /// when a packet reached the server is not known, so that its arrival feedback can't be checked.
    package var isReal = false
    /// Others than synthetic peers send here as well: what can't be read is theirs.
    package var hasOthers = false
    package internal(set) var foreignPackets = 0
    package internal(set) var refusals = Refusals()
  }

  /// What libsrtp refused.
  package struct Refusals {
    /// Changed on the way, or sealed under other keys.
    package var forged = 0
    /// Opened before, or too old to know.
    package var repeated = 0
  }

  /// A packet of a track, as it reached its subscriber.
  package struct MediaArrival {
    package var publisher: Int
    package var track: Int
    package var packet: Int
    /// Of a picture its number in the track, and which part of it this is; every sound is a whole one.
    package var frame: Frame
    package var viaRTX: Bool
    /// It has come before.
    package var isRepeat: Bool
    package var at: Instant

    package struct Frame {
      package var number = 0
      package var isKey = false
      package var isStart = true
      package var isEnd = true

      package init(number: Int = 0, isKey: Bool = false, isStart: Bool = true, isEnd: Bool = true) {
        self.number = number
        self.isKey = isKey
        self.isStart = isStart
        self.isEnd = isEnd
      }
    }

    package init(
      publisher: Int, track: Int, packet: Int, frame: Frame = Frame(), viaRTX: Bool, isRepeat: Bool,
      at: Instant
    ) {
      self.publisher = publisher
      self.track = track
      self.packet = packet
      self.frame = frame
      self.viaRTX = viaRTX
      self.isRepeat = isRepeat
      self.at = at
    }
  }

  public init(
    _ configuration: PeerConfiguration, address: SocketAddress, dtls: DTLSContext,
    ice: ControllingAgent.Configuration, journal: Journal, now: Instant, random: RandomSource
  ) {
    self.configuration = configuration
    self.journal = journal
    var random = random
    transport = PeerTransport(ice, address: address, dtls: dtls, now: now, random: &random)
    feedback = PeerFeedback(&random)
    feedback.arrivals = ArrivalFeedback(interval: configuration.dialect.arrivalInterval.wholeNanoseconds)
    descriptions = PeerDescriptions(configuration, &random)
    self.random = random
  }

  package var clock: DriftingClock { configuration.clock }
  public var isConnected: Bool { session != nil }
  /// What the server last said was lost of each stream, in 256ths.
  public var reportedLoss: [UInt8] { Array(feedback.reportedLoss.values) }
  /// What the server said last was lost of each stream in all.
  public var reportedLost: [Int32] { Array(feedback.reportedLost.values) }
  public var number: Int { configuration.number }

  /// Packets of a publisher that came, each counted once.
  public func packetsReceived(of publisher: Int) -> Int {
    streams.reduce(0) { count, stream in
      count + stream.entries.count { Int($0.publisher) == publisher }
    }
  }

  /// By stream: how many numbers between the first packet and the last never came.
  package var numbersMissing: [Int] {
    streams.map { stream in
      guard stream.highest != .min else { return 0 }
      return (stream.first...stream.highest).count { stream[$0] == nil }
    }
  }

  /// Packets of the track that were made so far, and when each was.
  package func packetsMade(track: Int) -> Int {
    track < sources.count ? sources[track].log.nextPacket : 0
  }
  package func sendTime(track: Int, packet: Int) -> Instant? {
    guard track < sources.count, packet < sources[track].log.nextPacket else { return nil }
    return sources[track].log.packets[packet].sentAt
  }
  package var trackCount: Int { sources.count }
  /// What it sends in that track, where it comes in encodings or layers.
  package func layers(ofTrack track: Int) -> LayeredTrack? {
    layered.first { $0.log.index == track }?.track
  }

  /// Lets go of what was received long ago; of no use to the audits of a simulation, which look at everything.
  package func forgetReceived(keeping packets: Int) {
    for stream in streams { stream.forget(keeping: packets) }
  }

  /// Packets that it has published.
  public var packetsPublished: Int { sources.reduce(0) { $0 + $1.log.packets.count } }

  /// When `poll` wants to be called.
  public var deadline: Instant {
    guard !isClosed else { return .never }
    var deadline = min(transport.deadline, feedback.nextReports)
    if session != nil { deadline = min(deadline, feedback.arrivals.deadline) }
    if session != nil {
      for source in sources { deadline = min(deadline, source.nextFrame) }
      for source in layered { deadline = min(deadline, source.nextFrame) }
      for stream in streams { deadline = min(deadline, stream.nextRequest) }
      deadline = min(deadline, transport.nextWatch)
    }
    return deadline
  }

  /// Falls silent: nothing is sent any more, whatever comes.
  public func close() {
    isClosed = true
    transport.stop()
    sources = []
    layered = []
    encoded.sources = []
  }

  /// Publishes nothing more; goes on answering and asking.
  public func stopPublishing() {
    for index in sources.indices { sources[index].stop() }
    for source in layered { source.stop() }
    for source in encoded.sources { source.stop() }
  }

  /// Does what is due.
  public func poll(now: Instant) {
    guard !isClosed else { return }
    pollTransport(now: now)
    guard session != nil else { return }
    for index in sources.indices {
      while sources[index].nextFrame <= now { sendFrame(index, now: now) }
    }
    for source in layered { while source.nextFrame <= now { sendPictures(source, now: now) } }
    sendRequests(now: now)
    tellArrivals(now: now)
    if feedback.nextReports <= now {
      feedback.nextReports = now.advanced(byNanoseconds: 1_000_000_000)
      sendReports(now: now)
    }
  }

  /// - Parameter isRepeat: a second copy that the network made.
  public func receive(
    _ bytes: [UInt8], path: NetworkPath, sentAt: Instant, isRepeat: Bool, now: Instant
  ) {
    guard !isClosed, let first = bytes.first else { return }
    switch first {
    case 0...3:
      transport.receiveSTUN(bytes, path: path, now: now, random: &random)
      advanceTransport(now: now)
    case 20...63:
      transport.receiveDTLS(bytes, path: path, now: now)
      advanceTransport(now: now)
    case 128...191: receiveMedia(bytes, path: path, sentAt: sentAt, isRepeat: isRepeat, now: now)
    default: journal.violation(now, "peer \(number) got a datagram of no protocol, first byte \(first)")
    }
  }
}
