public import Crypto
public import ICE
public import Model
package import Negotiation
package import Wire

/// A far end such as a browser is, in one process with the server: real ICE, real DTLS in either role, SRTP by
/// libsrtp. It publishes, subscribes, repairs what is lost, and checks every byte that it gets.
///
/// Sans-I/O: datagrams that it sends wait in `outgoing`.
public final class SyntheticPeer {
  public struct Configuration: Sendable {
    /// Its number in the simulation; part of every payload that it sends.
    public var number: Int
    /// Sections in which it wants to receive.
    public var audioReceivers = 0
    public var videoReceivers = 0
    public var publishesAudio = true
    public var publishesVideo = true
    /// `a=setup:passive`: the far end sends the ClientHello.
    public var waitsForHandshake = false
    /// Streams are announced in the description, or only named by their MID.
    public var announcesSSRCs = true
    public var dialect = Dialect()
    /// What it begins to publish in.
    public var audioCodec = Codec.opus
    public var videoCodec = Codec.vp8
    /// Opus and RED are not sent while nothing is said.
    public var pausesInSilence = false
    /// Loud for three seconds and quiet for six, by its number.
    public var talksInTurns = false
    /// Picture ids have 7 bits, not 15.
    public var hasShortPictureIDs = false
    /// Dependency descriptors of key frames need the two-byte form.
    public var hasLongDescriptors = false
    /// Of its wall clock, in nanoseconds and in parts per million.
    public var clockOffset: Int64 = 0
    public var clockDrift: Int64 = 0
    /// Of its sound card against that clock, in parts per million.
    public var soundDrift: Int64 = 0
    public var audioSequence: UInt16 = 0
    public var videoSequence: UInt16 = 0
    public var videoInterval: Int64 = 50_000_000
    public var videoPacketSize = 60...600
    /// Packets of a frame.
    public var videoPackets = 1...4
    public var keyFramePackets = 3...7

    public init(number: Int) { self.number = number }
  }

  /// A datagram to be sent.
  public struct Outgoing {
    public var bytes: [UInt8]
    public var path: NetworkPath
    /// See `DatagramMark`; 0 for what isn't media.
    public var tag: UInt64
  }

  public let configuration: Configuration
  package let journal: Journal
  package let clock: DriftingClock
  package var random: RandomSource
  public var outgoing: [Outgoing] = []

  // Transport.
  package let dtls: DTLSContext
  var agent: ControllingAgent
  var agentDeadline = Instant.never
  package var handshake: DTLSHandshake?
  var handshakeDeadline = Instant.never
  package var association: DTLSAssociation?
  package var session: SRTPSession?
  var handshakePath: NetworkPath?
  package var credentials: ICECredentials
  package var address: SocketAddress
  var remoteTransport: RemoteTransport?
  var iceOutput = ICEOutput()
  /// When something last came from the server.
  package var lastHeard = Instant.never
  /// Whether silence, or another address by a NAT, leads to a new nomination.
  package let nominatesAnew: Bool
  package let ice: ControllingAgent.Configuration
  public internal(set) var isClosed = false
  /// When it had the keys.
  public internal(set) var connectedAt = Instant.never
  /// Why the handshake failed.
  public internal(set) var failure: DTLSError?
  /// Of the offer on its way.
  package var pendingCredentials: ICECredentials
  /// What the server agreed to may come before its answer does.
  var awaitsAnswer = false

  // Descriptions.
  package var negotiator: Negotiator
  /// In the numbers that are on the wire.
  package var media = AgreedMedia()
  /// Of its own reports.
  package let cname: String
  /// What it publishes or wants to, in the order in which it began.
  package var publications: [Publication] = []
  /// The sections of the offer that was made last.
  package var offered: [OfferedSection] = []
  /// How sections are called on the wire, by the negotiator's name of them; see `makeOffer`.
  var midNames: [String: String] = [:]
  /// The negotiator's names of the sections of `offered`.
  var ownMids: [String] = []
  /// Sections that take the place of stopped ones are called as those were, every other time.
  package var reusesMids = false
  /// Sealed media datagrams, the last ones, to be sent again by who is hostile.
  package var keptDatagrams: [(bytes: [UInt8], tag: UInt64)] = []
  package var isHostile = false
  /// Payloads that nobody can read.
  package var malformedSent = 0
  /// Goes on sending what it has stopped in its offers.
  package var ignoresStops = false
  package var audioReceivers: Int
  package var videoReceivers: Int

  // Media.
  package var sources: [TrackSource] = []
  package var streams: [ReceivedStream] = []
  /// Media and retransmission SSRCs of `streams`.
  var streamIndex: [UInt32: Int] = [:]
  var transportSequence: UInt16
  var nextReports = Instant.never
  package var reportSSRC: UInt32
  /// What each transport sequence number was, for the check of arrival feedback.
  var transportLog = TransportLog()
  /// Asked for each packet: what is wrong with its coming in that slot.
  package var judge: (_ slot: Int, PayloadStamp, _ sentAt: Instant) -> String? = { _, _, _ in nil }
  /// Called with each sender report that comes.
  package var onSenderReport: (_ stream: Int, SenderReport) -> Void = { _, _ in }
  /// Called with each media packet that was opened and found to be as it was sent.
  package var onPacket: (MediaArrival) -> Void = { _ in }
  /// On a real network datagrams that libsrtp refuses are counted and no violation, since anything may come; and
  /// nobody knows when a packet reached the server, so that its arrival feedback can't be checked.
  package var isOnRealNetwork = false
  /// Others than synthetic peers send here as well: what can't be read is theirs.
  package var hearsOthers = false
  package internal(set) var foreignPackets = 0
  package internal(set) var refusals = Refusals()

  /// What libsrtp refused.
  package struct Refusals {
    /// Changed on the way, or sealed by somebody else.
    package var forged = 0
    /// Opened before, or too old to know.
    package var repeated = 0
  }

  /// A packet of a track, as it reached its subscriber.
  package struct MediaArrival {
    package var publisher: Int
    package var track: Int
    package var packet: Int
    package var viaRTX: Bool
    /// It has come before.
    package var isRepeat: Bool
    package var at: Instant

    package init(publisher: Int, track: Int, packet: Int, viaRTX: Bool, isRepeat: Bool, at: Instant) {
      self.publisher = publisher
      self.track = track
      self.packet = packet
      self.viaRTX = viaRTX
      self.isRepeat = isRepeat
      self.at = at
    }
  }

  public init(
    _ configuration: Configuration, address: SocketAddress, dtls: DTLSContext,
    ice: ControllingAgent.Configuration, journal: Journal, now: Instant, random: RandomSource
  ) {
    self.configuration = configuration
    self.journal = journal
    self.dtls = dtls
    self.address = address
    negotiator = Negotiator(
      policy: NegotiationPolicy(
        usesTransportFeedback: true,
        offeredExtensions: [
          .audioLevel, .transportSequence, .mid, .absoluteSendTime, .dependencyDescriptor,
        ]))
    nominatesAnew = ice.nominatesAnew
    self.ice = ice
    var random = random
    clock = DriftingClock(
      offset: configuration.clockOffset, drift: configuration.clockDrift, soundDrift: configuration.soundDrift
    )
    credentials = ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
    pendingCredentials = credentials
    agent = ControllingAgent(local: credentials, configuration: ice, now: now, random: &random)
    agent.addLocal(address)
    audioReceivers = configuration.audioReceivers
    videoReceivers = configuration.videoReceivers
    transportSequence = UInt16(truncatingIfNeeded: random.next())
    reportSSRC = UInt32(truncatingIfNeeded: random.next()) | 1
    cname = random.alphanumeric(12)
    for (kind, isWanted) in [
      (MediaKind.audio, configuration.publishesAudio), (.video, configuration.publishesVideo),
    ] where isWanted {
      publications.append(
        Publication(
          announcement: TrackAnnouncement(
            kind: kind, ssrc: UInt32(truncatingIfNeeded: random.next()) | 1,
            rtxSSRC: kind == .video ? UInt32(truncatingIfNeeded: random.next()) | 1 : nil, cname: cname,
            streamID: "s\(configuration.number)", trackID: "t\(configuration.number)-\(kind)")))
    }
    self.random = random
  }

  public var isConnected: Bool { session != nil }
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

  /// Lets go of what was received long ago; of no use to the audits of a simulation, which look at everything.
  package func forgetReceived(keeping packets: Int) {
    for stream in streams { stream.forget(keeping: packets) }
  }

  /// Packets that it has published.
  public var packetsPublished: Int { sources.reduce(0) { $0 + $1.log.packets.count } }

  /// When `poll` wants to be called.
  public var deadline: Instant {
    guard !isClosed else { return .never }
    var deadline = min(agentDeadline, handshakeDeadline, nextReports)
    if session != nil {
      for source in sources { deadline = min(deadline, source.nextFrame) }
      for stream in streams { deadline = min(deadline, stream.nextRequest) }
      deadline = min(deadline, nextWatch)
    }
    return deadline
  }

  /// When the watch over silence is due.
  var nextWatch: Instant {
    lastHeard == .never || !nominatesAnew ? .never : lastHeard.advanced(byNanoseconds: Self.silence)
  }
  /// A browser sends checks this soon when nothing comes any more.
  package static let silence: Int64 = 600_000_000

  /// Falls silent: nothing is sent any more, whatever comes.
  public func close() {
    isClosed = true
    handshake = nil
    sources = []
  }

  /// Publishes nothing more; goes on answering and asking.
  public func stopPublishing() { for index in sources.indices { sources[index].stop() } }

  /// Does what is due.
  public func poll(now: Instant) {
    guard !isClosed else { return }
    pollTransport(now: now)
    guard session != nil else { return }
    for index in sources.indices {
      while sources[index].nextFrame <= now { sendFrame(index, now: now) }
    }
    sendRequests(now: now)
    if nextReports <= now {
      nextReports = now.advanced(byNanoseconds: 1_000_000_000)
      sendReports(now: now)
    }
  }

  /// - Parameter isRepeat: a second copy that the network made.
  public func receive(
    _ bytes: [UInt8], path: NetworkPath, sentAt: Instant, isRepeat: Bool, now: Instant
  ) {
    guard !isClosed, let first = bytes.first else { return }
    switch first {
    case 0...3: receiveSTUN(bytes, path: path, now: now)
    case 20...63: receiveDTLS(bytes, path: path, now: now)
    case 128...191: receiveMedia(bytes, path: path, sentAt: sentAt, isRepeat: isRepeat, now: now)
    default: journal.violation(now, "peer \(number) got a datagram of no protocol, first byte \(first)")
    }
  }
}
