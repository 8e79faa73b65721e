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

  /// What it is there for.
  struct Role {
    var room: Int
    var publishesVideo = false
    var publishesAudio = false
    /// Numbers of the participants whose tracks it receives.
    var sources: [Int] = []
  }

  let number: Int
  let role: Role
  private(set) var phase = Phase.waiting
  private(set) var peer: SyntheticPeer?
  private(set) var webSocket: WebSocketClient?
  private(set) var socket: UDPSocket?
  private var address = SocketAddress(ipv4: 127, 0, 0, 1, port: 0)
  private(set) var began = Instant.never
  private(set) var connectedAt = Instant.never
  private(set) var firstMediaAt = Instant.never
  /// When `poll` has something to do.
  private(set) var deadline = Instant.never
  private var nextPing = Instant.never
  private var pingInterval: Int64 = 20_000_000_000
  /// When the ping was sent whose answer hasn't come.
  private var pingSentAt = Instant.never
  private(set) var pings = LatencyHistogram()
  private let options: LoadOptions
  private let clips: [RecordedVideo]
  /// Called with each packet of media.
  var onPacket: (SyntheticPeer.MediaArrival) -> Void = { _ in }

  /// Called with each datagram that has left.
  var onSent: (([UInt8]) -> Void)?

  /// - Parameter clips: what it publishes as layers of a simulcast, the largest first; none: packets that are made up.
  init(number: Int, role: Role, options: LoadOptions, clips: [RecordedVideo] = []) {
    self.number = number
    self.role = role
    self.clips = clips
    self.options = options
    if let milliseconds = options.pingMilliseconds { pingInterval = Int64(milliseconds) * 1_000_000 }
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
  var isReceiving: Bool { firstMediaAt != .never }

  func beginJoin(now: Instant) {
    phase = .connecting
    began = now
    deadline = now.advanced(byNanoseconds: Int64(options.joinTimeout) * 1_000_000_000)
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
    do {
      let bound = try UDPSocket(port: 0, receiveBuffer: 4 << 20, sendBuffer: 1 << 20)
      address = Self.localAddress(of: opened.descriptor).with(port: bound.port)
      socket = consume bound
    } catch { return fail("no socket: \(error)") }
    webSocket = opened
    var ice = ControllingAgent.Configuration()
    // As Chromium: the first pair that works is used.
    ice.isAggressive = true
    let peer = SyntheticPeer(
      configuration, address: address, dtls: dtls, ice: ice, journal: journal,
      now: now, random: .seeded(state: Random.integer()))
    peer.network.isReal = true
    peer.network.hasOthers = options.others > 0
    peer.onPacket = { [unowned self] arrival in
      if firstMediaAt == .never { firstMediaAt = arrival.at }
      onPacket(arrival)
    }
    self.peer = peer
    phase = .joining
    do {
      opened.send(ClientMessage(.offer(.init(sdp: try peer.makeOffer())), id: RequestID(1)).json)
      opened.flush()
    } catch { fail("can't make an offer: \(error)") }
    nextPing = now.advanced(byNanoseconds: pingInterval)
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
    let shape = VideoShape(bitrate: max(options.picture.bitrate, 30_000))
    if role.publishesVideo, let first = clips.first {
      configuration.layers = LayeredVideo(
        encodings: zip(["f", "h", "q"], clips).map { LayeredVideo.Encoding(rid: $0, $1) },
        structure: LayerStructure(codec: .vp8, temporalLayers: 1))
      configuration.layers?.interval = first.interval
      configuration.layers?.obeysPublish = true
    }
    configuration.video.interval = 1_000_000_000 / Int64(LoadOptions.framesPerSecond)
    configuration.video.packets = shape.packets...shape.packets
    configuration.video.keyFramePackets = shape.packets * 3...shape.packets * 3
    configuration.video.packetSize = shape.packetSize...shape.packetSize
    return configuration
  }

  private static func localAddress(of descriptor: Int32) -> SocketAddress {
    var storage = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    let found =
      status == 0 ? withUnsafeBytes(of: &storage) { SocketAddress($0.baseAddress!, length: Int(size)) } : nil
    return found ?? SocketAddress(ipv4: 127, 0, 0, 1, port: 0)
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
        pingInterval = Int64(min(joined.pingInterval, 3_600)) * 1_000_000_000
      }
    case .pong where pingSentAt != .never:
      pings.add(nanoseconds: now.nanoseconds - pingSentAt.nanoseconds)
      pingSentAt = .never
    case .answer(let answer):
      do {
        let sdp = answer.sdp
        try peer?.accept(
          options.mediaAddress.map { AnswerRewriting.withCandidate($0, sdp) } ?? sdp, now: now)
      } catch { fail("the answer can't be applied: \(error)") }
      deadline = peer?.deadline ?? .never
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

  /// Does what is due, and sends what waits.
  func poll(now: Instant) {
    if phase == .connecting || phase == .joining,
      now.nanoseconds - began.nanoseconds >= Int64(options.joinTimeout) * 1_000_000_000
    {
      return fail("no media within \(options.joinTimeout) s")
    }
    guard let peer else { return }
    peer.poll(now: now)
    flush()
    if phase == .joining {
      if let failure = peer.failure { return fail("DTLS: \(failure)") }
      if peer.isConnected {
        phase = .connected
        connectedAt = now
      }
    }
    if nextPing <= now, let webSocket {
      nextPing = now.advanced(byNanoseconds: pingInterval)
      // One at a time: a late answer counts as late as it is.
      guard pingSentAt == .never else { return schedule() }
      pingSentAt = now
      webSocket.send(ClientMessage(.ping).json)
      webSocket.flush()
    }
    schedule()
  }

  private func schedule() {
    deadline = min(peer?.deadline ?? .never, nextPing, phase == .joining ? joinDeadline : .never)
  }

  /// A ping that is not answered yet counts with the time that it waits already.
  func notePendingPing(now: Instant) {
    guard pingSentAt != .never else { return }
    pings.add(nanoseconds: now.nanoseconds - pingSentAt.nanoseconds)
  }

  private var joinDeadline: Instant {
    began.advanced(byNanoseconds: Int64(options.joinTimeout) * 1_000_000_000)
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
