package import Crypto
internal import ICE
package import Media
package import Model
package import Negotiation
package import Transport
internal import Wire

/// A client's end of the media: the server's own pieces the other way round. ICE, DTLS and SRTP towards the server; what comes is
/// opened, repaired by requests and described, what is sent is kept for those who ask for it again.
///
/// It has no socket and no clock: datagrams and the time come in, datagrams go to the outbox that it was given.
package final class MediaEnd {
  static let cname = "roost-client"

  private var transport: Transport<ControllingAgent>
  private var context: TransportContext
  private var media: MediaContext
  private var session = MediaSession(reportSSRC: UInt32(truncatingIfNeeded: Random.integer(UInt32.self)) | 1)
  package private(set) var agreed = AgreedMedia()
  package private(set) var senders: [TrackSender] = []
  private var nextReports = Instant.never
  private let epoch: Epoch
  /// Called with each packet that is new: the index of its section, plain RTP, and what is known of it.
  package var onPacket: (Int, UnsafeRawBufferPointer, PacketInfo) -> Void = { _, _, _ in }

  /// - Parameters:
  ///   - addresses: from which datagrams may leave, the likeliest first.
  ///   - whenFull: sends what is in the outbox.
  package init(
    _ agreed: AgreedTransport, addresses: [SocketAddress], dtls: DTLSContext, epoch: Epoch, now: Instant,
    whenFull: @escaping (inout Outbox) -> Void
  ) {
    self.epoch = epoch
    var random = RandomSource.seeded(state: Random.integer())
    var configuration = ControllingAgent.Configuration()
    // The first pair that works is used.
    configuration.isAggressive = true
    var agent = ControllingAgent(
      local: agreed.localCredentials, remote: agreed.remote.credentials, configuration: configuration,
      now: now, random: &random)
    for address in addresses { agent.addLocal(address) }
    Self.add(agreed.remoteCandidates, to: &agent)
    transport = Transport(
      agent: agent, role: agreed.remote.role, fingerprints: agreed.remote.fingerprints, createdAt: now)
    context = TransportContext(
      dtls: dtls, random: random, outbox: Outbox(datagrams: 64, whenFull: whenFull))
    media = MediaContext(epoch: epoch, publisherMaxBitrate: 3_000_000)
  }

  private static func add(_ candidates: [SocketAddress], to agent: inout ControllingAgent) {
    for (rank, candidate) in candidates.enumerated() {
      agent.addRemote(
        candidate, priority: ICEPriority.candidate(.host, localPreference: .max - UInt16(rank)))
    }
  }

  /// Takes what was agreed on. What comes in all sections is of one clock: the server's.
  package func apply(_ agreement: Agreement, now: Instant) {
    if let agreed = agreement.transport, agreed.restartsICE {
      transport.agent.restart(local: agreed.localCredentials, remote: agreed.remote.credentials)
      Self.add(agreed.remoteCandidates, to: &transport.agent)
    }
    agreed = agreement.media
    var received = AgreedMedia(
      receive: agreed.receive, allowsReducedSizeRTCP: agreed.allowsReducedSizeRTCP)
    for index in received.receive.indices { received.receive[index].cname = "server" }
    _ = session.apply(received, random: &context.random, context: &media)
    for section in agreed.receive { session.setTag(track: Int(section.index), Int(section.index)) }
    media.output.removeAll()
    changeStreams()
  }

  package var isConnected: Bool { transport.takesMedia }
  package var ended: TransportEnd? { transport.ended }

  // MARK: - What comes

  package func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    switch transport.receive(datagram, path: path, now: now, context: &context) {
    case .none: settle(now: now)
    case .rtp(let size, _):
      let received = session.receive(
        rtp: UnsafeMutableRawBufferPointer(rebasing: datagram[..<size]), arrival: arrival, context: &media)
      changeStreams()
      media.effects.clear()
      guard case .media(let section, let offset, let size, let info) = received else { return }
      onPacket(section, UnsafeRawBufferPointer(rebasing: datagram[offset..<offset + size]), info)
    case .rtcp(let size, _):
      let compound = UnsafeRawBufferPointer(rebasing: datagram[..<size])
      session.receive(rtcp: compound, now: now, context: &media)
      media.effects.clear()
      if !senders.isEmpty { hear(compound, now: now) }
    }
  }

  /// What the server asks about what is sent.
  private func hear(_ compound: UnsafeRawBufferPointer, now: Instant) {
    var reader = RTCPReader(compound)
    // What can't be read is the session's to count.
    while let packet = try? reader.next() {
      switch packet.kind {
      case .nack:
        guard var request = try? NACKReader(packet), let sender = place(of: request.sources.media) else {
          continue
        }
        while let sequence = request.next() { repeatPacket(sequence, of: sender, now: now) }
      case .pictureLoss:
        if let wanted = try? PictureLossIndication(packet), let sender = place(of: wanted.sources.media) {
          senders[sender].counts.keyFramesAsked += 1
        }
      default: break
      }
    }
  }

  private func place(of ssrc: UInt32) -> Int? { senders.firstIndex { $0.ssrc == ssrc } }

  private func repeatPacket(_ sequence: UInt16, of sender: Int, now: Instant) {
    guard let path = transport.selectedPath, let bytes = senders[sender].repetition(of: sequence, now: now)
    else { return }
    bytes.withUnsafeBytes { _ = context.outbox.append($0, path: path) }
  }

  /// Where a section's timestamps stand on this machine's time line, as the server's reports tie them to its own.
  package func clock(of section: Int) -> ClockMapping? { session.clock(track: section, epoch: epoch) }

  /// Another track is in a section, with a clock of its own.
  package func forgetClock(of section: Int) { session.forgetClock(track: section) }

  package func requestKeyFrame(of section: Int) { session.requestKeyFrame(track: section) }

  // MARK: - What is sent

  /// Begins to send a track in a section that was agreed on.
  /// - Returns: its place among the senders; nil where the section can't carry the codec.
  package func send(_ codec: Codec, in section: SendSection, now: Instant) -> Int? {
    guard let sender = TrackSender(codec, section, began: now, random: &context.random) else { return nil }
    senders.append(sender)
    return senders.count - 1
  }

  /// Sends a frame of a track. Until `isConnected` nothing leaves.
  /// - Parameter moment: when it is to be played, on the time line of `now`.
  package func send(_ frame: [UInt8], at moment: Instant, track: Int, now: Instant) {
    guard let path = transport.selectedPath, transport.takesMedia else { return }
    let isFirst = senders[track].counts.packets == 0
    for payload in senders[track].payloads(of: frame) {
      let room = context.outbox.reserve()
      guard let packet = senders[track].write(payload, at: moment, into: room) else { continue }
      guard
        let size = transport.sealRTP(
          room, headerSize: RTPHeader.fixedSize, size: packet.size, ssrc: senders[track].ssrc,
          index: packet.index, &senders[track].admitted, context: &context)
      else { continue }
      senders[track].keep(UnsafeRawBufferPointer(rebasing: room[..<size]), packet.index)
      context.outbox.commit(size: size, path: path)
    }
    // Who gets it knows from the first picture on when it was.
    if isFirst, senders[track].counts.packets > 0 { report(track, now: now) }
    if nextReports == .never { nextReports = now + .seconds(1) }
  }

  /// Sends the end of each track once more: what has come already is dropped.
  package func repeatEnds() {
    guard let path = transport.selectedPath else { return }
    for sender in senders {
      for bytes in sender.tail { bytes.withUnsafeBytes { _ = context.outbox.append($0, path: path) } }
    }
  }

  private func report(_ track: Int, now: Instant) {
    let report = senders[track].report(now: now, epoch: epoch)
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 4) { bytes in
      var writer = RTCPWriter(into: bytes)
      writer.append(report)
      writer.append(cname: Self.cname, ssrc: report.ssrc)
      transport.send(
        rtcp: UnsafeRawBufferPointer(rebasing: bytes[..<writer.size]), source: report.ssrc, context: &context)
    }
  }

  // MARK: - Time

  package var deadline: Instant { min(transport.deadline, session.deadline, nextReports) }

  package func poll(now: Instant) {
    guard transport.ended == nil else { return }
    transport.poll(now: now, context: &context)
    settle(now: now)
    guard transport.ended == nil else { return }
    let ratesChanged = session.reports(at: now) && transport.tally(now: now)
    session.poll(now: now, ratesChanged: ratesChanged, context: &media)
    sendCompounds()
    media.effects.clear()
    guard nextReports <= now else { return }
    nextReports = now + .seconds(1)
    for track in senders.indices where senders[track].counts.packets > 0 { report(track, now: now) }
  }

  /// Sends what waits in the outbox.
  package func flush(_ send: (inout Outbox) -> Void) { if !context.outbox.isEmpty { send(&context.outbox) } }

  /// The server need not find out by silence that nothing more comes.
  package func sayFarewell() { transport.sayFarewell(context: &context) }

  private func settle(now: Instant) {
    let events = context.events
    guard !events.isEmpty else { return }
    context.events.clear()
    if events.connected != nil {
      session.transportConnected(now: now, context: &media)
      changeStreams()
    }
    if events.selection == .changed { session.peerMoved() }
  }

  private func sendCompounds() {
    for index in 0..<media.output.count {
      transport.send(
        rtcp: media.output.bytes(index), source: media.output.source(index), context: &context)
    }
    media.output.removeAll()
  }

  /// The replay windows follow the streams that are sections'.
  private func changeStreams() {
    for change in media.streamChanges {
      if change.isMapped { transport.keepStream(change.ssrc) } else { transport.forgetStream(change.ssrc) }
    }
    media.streamChanges.removeAll(keepingCapacity: true)
  }
}
