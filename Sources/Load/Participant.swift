internal import Client
internal import Crypto
internal import Engine
internal import Glibc
internal import ICE
internal import Model
internal import Signalling
internal import SyntheticPeers
internal import WebSocketClient

/// One synthetic participant: its WebSocket, its UDP socket, and the far end that speaks through it.
final class Participant {
  enum Phase: Equatable {
    case waiting
    case connecting
    /// The WebSocket is open, the media is not.
    case joining
    case connected
    case failed(String)
  }

  /// By which it comes.
  enum Door { case native, whip, whep }

  /// What it is there for.
  struct Role {
    var room: Int
    var publishesVideo = false
    var publishesAudio = false
    /// Numbers of the participants whose tracks it receives.
    var sources: [Int] = []
    /// Among the publishers of its room.
    var place = 0
    var door = Door.native
  }

  private struct Ping {
    var next = Instant.never
    var interval: Int64 = 20_000_000_000
    /// When the one was sent whose answer hasn't come.
    var sentAt = Instant.never
    var latency = LatencyHistogram()
  }

  let number: Int
  let role: Role
  private(set) var phase = Phase.waiting
  private(set) var peer: SyntheticPeer?
  private(set) var webSocket: WebSocketClient?
  /// By WHIP or WHEP.
  private(set) var session: StandaloneSession?
  private(set) var socket: UDPSocket?
  private var address = SocketAddress(ipv4: 127, 0, 0, 1, port: 0)
  private(set) var began = Instant.never
  private(set) var connectedAt = Instant.never
  private(set) var first = FirstMedia()
  /// When `poll` has something to do.
  private(set) var deadline = Instant.never
  private var ping = Ping()
  /// Whose tracks its slots show.
  private(set) var roster: Roster
  private let options: LoadOptions
  private let clips: [RecordedVideo]
  /// Called with each packet of media.
  var onPacket: (SyntheticPeer.MediaArrival) -> Void = { _ in }

  /// Called with each packet of media that carries no stamp.
  var onPayload: (EncodedPayload) -> Void = { _ in }
  /// Called where a key frame of its picture is asked for.
  var onKeyFrameRequest: () -> Void = {}
  /// Called with each datagram that has left.
  var onSent: (([UInt8]) -> Void)?

  /// - Parameter clips: what it publishes as layers of a simulcast, the largest first; none: packets that are made up.
  init(number: Int, role: Role, options: LoadOptions, clips: [RecordedVideo] = []) {
    self.number = number
    self.role = role
    self.clips = clips
    self.options = options
    roster = Roster(identities: options.names.identity)
    if let milliseconds = options.pingMilliseconds { ping.interval = Int64(milliseconds) * 1_000_000 }
  }

  var mediaDescriptor: Int32? {
    switch socket {
    case .some(let bound): bound.descriptor
    case .none: nil
    }
  }
  /// In, or not to be expected any more.
  var isDecided: Bool {
    switch phase {
    case .connected, .failed: true
    case .waiting, .connecting, .joining: false
    }
  }
  var isReceiving: Bool { first.packetAt != .never }

  func beginJoin(now: Instant) {
    phase = .connecting
    began = now
    deadline = now.advanced(byNanoseconds: Int64(options.joining.timeout) * 1_000_000_000)
  }

  /// The session is over, whatever it was.
  func fail(_ reason: String) {
    if case .failed = phase { return }
    phase = .failed(reason)
    end()
  }

  /// Leaves, if it is in.
  func end() {
    peer?.close()
    if let webSocket {
      webSocket.send(ClientMessage(.leave).json)
      webSocket.flush()
      webSocket.close()
    }
    deadline = .never
  }

  // MARK: Joining

  /// The WebSocket is open: the offer goes out.
  func join(over opened: WebSocketClient, journal: Journal, dtls: DTLSContext, now: Instant) {
    guard phase == .connecting else { return opened.close() }
    webSocket = opened
    guard let offer = makeOffer(from: LocalAddress.of(opened.descriptor), journal, dtls, now: now) else {
      return
    }
    opened.send(ClientMessage(.offer(.init(sdp: offer)), id: RequestID(1)).json)
    opened.flush()
    phase = .joining
    ping.next = now.advanced(byNanoseconds: ping.interval)
  }

  /// WHIP or WHEP has answered the offer.
  func join(by opened: StandaloneSession, now: Instant) {
    session = opened
    guard phase == .connecting else { return }
    phase = .joining
    accept(opened.answer, now: now)
    poll(now: now)
  }

  /// Makes its socket and its far end.
  /// - Returns: what it offers; nil where it has failed.
  func makeOffer(
    from local: SocketAddress, _ journal: Journal, _ dtls: DTLSContext, now: Instant
  ) -> String? {
    do {
      let bound = try UDPSocket(port: 0, receiveBuffer: 4 << 20, sendBuffer: 1 << 20)
      address = local.with(port: bound.port)
      socket = consume bound
    } catch {
      fail("no socket: \(error)")
      return nil
    }
    var ice = ControllingAgent.Configuration()
    // As Chromium: the first pair that works is used.
    ice.isAggressive = true
    let peer = SyntheticPeer(
      configuration, address: address, dtls: dtls, ice: ice, journal: journal,
      now: now, random: .seeded(state: Random.integer()))
    peer.network.isReal = true
    peer.network.hasOthers = options.others > 0
    peer.onPacket = { [unowned self] arrival in
      // A publisher's sound is its first track.
      first.note(arrival, isPicture: !options.hasAudio || arrival.track > 0)
      onPacket(arrival)
    }
    peer.encoded.onPayload = { [unowned self] payload in
      first.note(packetAt: payload.at)
      onPayload(payload)
    }
    peer.encoded.onKeyFrameRequest = { [unowned self] in onKeyFrameRequest() }
    self.peer = peer
    do { return try peer.makeOffer() } catch {
      fail("can't make an offer: \(error)")
      return nil
    }
  }

  private func accept(_ answer: String, now: Instant) {
    do {
      try peer?.accept(
        options.mediaAddress.map { AnswerRewriting.withCandidate($0, answer) } ?? answer, now: now)
    } catch { fail("the answer can't be applied: \(error)") }
    deadline = peer?.deadline ?? .never
  }

  private var configuration: PeerConfiguration {
    var configuration = PeerConfiguration(number: number)
    configuration.publishesAudio = role.publishesAudio
    configuration.publishesVideo = role.publishesVideo
    configuration.audioReceivers = (options.hasAudio ? role.sources.count : 0) + options.others
    configuration.videoReceivers = (options.picture.isSent ? role.sources.count : 0) + options.others
    configuration.dialect.asksForLost = options.feedback.asksForLost
    configuration.dialect.tellsArrivals = options.feedback.tellsArrivals
    if let interval = options.feedback.interval { configuration.dialect.arrivalInterval = interval }
    configuration.isEncoded = options.picture.isReal
    let shape = VideoShape(bitrate: max(options.picture.bitrate, 30_000))
    if role.publishesVideo, let first = clips.first {
      configuration.layers = LayeredVideo(
        encodings: zip(["f", "h", "q"], clips).map { LayeredVideo.Encoding(rid: $0, $1) },
        structure: LayerStructure(codec: .vp8, temporalLayers: 1))
      configuration.layers?.interval = first.interval
      configuration.layers?.obeysPublish = true
    } else if role.publishesVideo, options.picture.encodings > 1 {
      configuration.layers = options.picture.simulcast
    }
    configuration.video.interval = 1_000_000_000 / Int64(LoadOptions.framesPerSecond)
    configuration.video.packets = shape.packets...shape.packets
    configuration.video.keyFramePackets = shape.packets * 3...shape.packets * 3
    configuration.video.packetSize = shape.packetSize...shape.packetSize
    return configuration
  }

  // MARK: Messages

  /// What came over the WebSocket.
  func readMessages(now: Instant) {
    guard let webSocket else { return }
    for text in webSocket.read() {
      do throws(MessageError) {
        take(try ServerMessage(json: text).content, now: now)
      } catch { return fail("the server sent an invalid message: \(error)") }
    }
    if case .closed(let code, _) = webSocket.state { fail("WebSocket closed, code \(code)") }
  }

  private func take(_ message: ServerMessage.Content, now: Instant) {
    switch message {
    case .joined(let joined):
      if options.pingMilliseconds == nil {
        ping.interval = Int64(min(joined.pingInterval, 3_600)) * 1_000_000_000
      }
      roster.note(joined.participants)
    case .slots(let slots): roster.note(slots)
    case .event(let event): roster.note(event)
    case .pong where ping.sentAt != .never:
      ping.latency.add(nanoseconds: now.nanoseconds - ping.sentAt.nanoseconds)
      ping.sentAt = .never
    case .answer(let answer):
      roster.note(answer.slots)
      accept(answer.sdp, now: now)
    case .publish(let watched):
      for layer in watched.layers { watch(layer, now: now) }
    case .error(let error): fail("error \(error.code.rawValue)")
    case .closed(let reason): fail("closed: \(reason.rawValue)")
    default: break
    }
  }

  /// It publishes one picture.
  private func watch(_ layer: WatchedLayer, now: Instant) {
    for source in peer?.layered ?? [] { source.watch(rid: layer.rid, layer.active, now: now) }
  }

  // MARK: Media

  func receive(_ bytes: [UInt8], from remote: SocketAddress, arrival: Instant, now: Instant) {
    peer?.receive(
      bytes, path: NetworkPath(remote: remote, local: address), sentAt: arrival, isRepeat: false, now: now)
  }

  /// Sends a frame of its own.
  /// - Returns: false where it is not in, or agreed on no section for it.
  func send(_ frame: EncodedFrame, now: Instant) -> Bool {
    guard phase == .connected, let peer else { return false }
    let isSent = peer.send(frame, now: now)
    flush()
    return isSent
  }

  /// Does what is due, and sends what waits.
  func poll(now: Instant) {
    if phase == .connecting || phase == .joining,
      now.nanoseconds - began.nanoseconds >= Int64(options.joining.timeout) * 1_000_000_000
    {
      return fail("no media within \(options.joining.timeout) s")
    }
    guard let peer else { return }
    peer.poll(now: now)
    flush()
    // Nothing else says that such a session is over.
    if session != nil, phase == .connected,
      now.nanoseconds - max(peer.lastHeard, connectedAt).nanoseconds >= Self.longestSilence
    {
      return fail("nothing came from the server for \(Self.longestSilence / 1_000_000_000) s")
    }
    if phase == .joining {
      if let failure = peer.failure { return fail("DTLS: \(failure)") }
      if peer.isConnected {
        phase = .connected
        connectedAt = now
      }
    }
    if ping.next <= now, let webSocket {
      ping.next = now.advanced(byNanoseconds: ping.interval)
      // One at a time: a late answer counts as late as it is.
      guard ping.sentAt == .never else { return schedule() }
      ping.sentAt = now
      webSocket.send(ClientMessage(.ping).json)
      webSocket.flush()
    }
    schedule()
  }

  private func schedule() {
    deadline = min(peer?.deadline ?? .never, ping.next, phase == .joining ? joinDeadline : .never)
  }

  var pings: LatencyHistogram { ping.latency }

  /// A ping that is not answered yet counts with the time that it waits already.
  func notePendingPing(now: Instant) {
    guard ping.sentAt != .never else { return }
    ping.latency.add(nanoseconds: now.nanoseconds - ping.sentAt.nanoseconds)
  }

  private static let longestSilence: Int64 = 10_000_000_000

  private var joinDeadline: Instant {
    began.advanced(byNanoseconds: Int64(options.joining.timeout) * 1_000_000_000)
  }

  private func flush() {
    guard let peer, !peer.outgoing.isEmpty else { return }
    for datagram in peer.outgoing {
      datagram.bytes.withUnsafeBytes { bytes in
        _ = socket?.send(bytes, to: datagram.path.remote)
      }
      onSent?(datagram.bytes)
    }
    peer.outgoing.removeAll(keepingCapacity: true)
  }
}

/// How a bitrate becomes frames of packets.
struct VideoShape: Equatable {
  var packets: Int
  /// Bytes of a packet's payload.
  var packetSize: Int

  init(bitrate: Int) {
    let frame = bitrate / 8 / LoadOptions.framesPerSecond
    packets = max(1, (frame + LoadOptions.packetBytes - 1) / LoadOptions.packetBytes)
    packetSize = max(60, frame / packets)
  }
}

extension LoadOptions {
  /// `media` as address and port.
  var mediaAddress: (address: String, port: Int)? {
    guard let media, let colon = media.lastIndex(of: ":"), let port = Int(media[media.index(after: colon)...])
    else { return nil }
    var address = media[..<colon]
    if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
    return (String(address), port)
  }
}
