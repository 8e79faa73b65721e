package import Model
internal import Wire

/// Makes the packets of one video track in several encodings or layers, each with the numbers of its own stream.
package final class LayeredSource {
  package let log: PublishedTrack
  package let track: LayeredTrack
  let logNumber: Int
  let section: SendSection
  private let codec: NegotiatedCodec
  private let video: LayeredVideo
  private let clock: DriftingClock
  /// Ids of the header extensions that name an encoding, of media and of retransmissions; 0: not agreed on.
  private let ridIDs: (media: UInt8, repaired: UInt8)
  package private(set) var streams: [LayeredStream]
  package private(set) var nextFrame: Instant
  private let begunAt: Instant
  private var random: RandomSource

  init(
    section: SendSection, video: LayeredVideo, clock: DriftingClock, ridIDs: (media: UInt8, repaired: UInt8),
    log: PublishedTrack, track: LayeredTrack, logNumber: Int, now: Instant, random: RandomSource
  ) {
    var random = random
    self.section = section
    self.video = video
    self.clock = clock
    self.ridIDs = ridIDs
    self.log = log
    self.track = track
    self.logNumber = logNumber
    let wanted: Codec =
      switch video.structure.codec {
      case .vp8: .vp8
      case .vp9, .vp9Flexible: .vp9
      case .h264: .h264
      }
    codec = section.codecs.first { $0.codec == wanted } ?? section.codecs[0]
    streams = video.encodings.indices.map { index in
      guard !video.isBySSRC else {
        return LayeredStream(
          ssrc: LayeredStream.ssrc(index, after: section.ssrc),
          rtxSSRC: section.rtxSSRC.map { LayeredStream.ssrc(index, after: $0) }, random: &random)
      }
      return LayeredStream(
        ssrc: index == 0 ? section.ssrc : UInt32(truncatingIfNeeded: random.next()) | 1,
        rtxSSRC: index == 0 ? section.rtxSSRC : UInt32(truncatingIfNeeded: random.next()) | 1,
        random: &random)
    }
    track.bases = streams.map(\.base)
    nextFrame = now
    begunAt = now
    self.random = random
    log.startRun(base: streams[0].base, ssrc: section.ssrc, now: now, rate: 90_000)
  }

  func stop() { nextFrame = .never }

  func owns(_ ssrc: UInt32) -> Bool { streams.contains { $0.ssrc == ssrc } }

  func acknowledge(_ ssrc: UInt32) {
    if let index = streams.firstIndex(where: { $0.ssrc == ssrc }) { streams[index].namesItself = false }
  }

  /// - Returns: false for a stream of another track.
  func requestKeyFrame(_ ssrc: UInt32) -> Bool {
    guard let index = streams.firstIndex(where: { $0.ssrc == ssrc }) else { return false }
    streams[index].wantsKeyFrame = true
    return true
  }

  /// What `publish` says of an encoding.
  package func watch(rid: String, _ isWatched: Bool, now: Instant) {
    guard let index = video.encodings.firstIndex(where: { $0.rid == rid }) else { return }
    track.noteWatched(index, isWatched, now: now)
    if video.obeysPublish { streams[index].isWatched = isWatched }
  }

  // MARK: - Pictures

  /// The packets of the pictures that are due, in plain text, with their numbers.
  func makePictures(now: Instant, transportSequence: inout UInt16) -> [(number: Int, bytes: [UInt8])] {
    defer { nextFrame = nextFrame.advanced(byNanoseconds: video.interval) }
    let moment = nextFrame.nanoseconds - begunAt.nanoseconds
    let isOn = streams.indices.map { streams[$0].isWatched && !video.encodings[$0].isAbsent(moment) }
    if isOn.contains(true) { track.noteMoment(now) }
    return streams.indices.flatMap { index -> [(number: Int, bytes: [UInt8])] in
      defer { streams[index].wasOn = isOn[index] }
      return isOn[index] ? makePicture(index, now: now, &transportSequence) : []
    }
  }

  private func makePicture(
    _ index: Int, now: Instant, _ transportSequence: inout UInt16
  ) -> [(number: Int, bytes: [UInt8])] {
    let encoding = video.encodings[index]
    // A clip has no key frame but those that it was encoded with: where one is wanted, it begins again.
    let isKey =
      streams[index].isKeyFrameDue(now) || encoding.recording.map { streams[index].isAtEnd(of: $0) } ?? false
    streams[index].begin(
      isKey: isKey, isBase: isKey || video.structure.temporal(streams[index].place + 1) == 0, now)
    let stream = streams[index]
    let temporal = isKey ? 0 : video.structure.temporal(stream.place)
    let noise = Double.random(in: 0.85...1.15, using: &random)
    let size =
      Double(encoding.rate) * Double(video.interval) / 8e9 * noise
      * (isKey ? 2.5 : video.structure.weight(temporal: temporal))
    let picture = encoding.recording?.pictures[stream.place]
    var packets: [(number: Int, bytes: [UInt8])] = []
    for spatial in 0..<video.structure.spatialLayers {
      var frame = LayerFrame(
        encoding: index, picture: stream.picture, spatial: spatial, temporal: temporal, isKey: isKey,
        references: references(index, spatial, isKey: isKey), packets: 0, timestamp: timestamp(stream),
        pictureID: stream.pictureID, tl0PictureIndex: stream.tl0PictureIndex, sentAt: now, bytes: 0,
        moment: track.moments.count - 1)
      frame.packets = 0
      packets += make(
        frame, picture, size: picture?.count ?? Int(size * video.structure.share(spatial: spatial)), now,
        &transportSequence)
    }
    return packets
  }

  private func timestamp(_ stream: LayeredStream) -> UInt32 {
    stream.base &+ DriftingClock.units(clock.media(nextFrame, .video), rate: 90_000)
  }

  private func references(_ index: Int, _ spatial: Int, isKey: Bool) -> [Int] {
    let stream = streams[index]
    var found =
      isKey
      ? []
      : video.structure.distances(stream.place).map { stream.recent[stream.recent.count - $0][spatial] }
    if spatial > 0, isKey || !video.structure.isKeyOnly { found.append(stream.present[spatial - 1]) }
    return found
  }

  /// Bytes of a packet's payload at most.
  private static let mostBytes = 1_100

  private func make(
    _ frame: LayerFrame, _ picture: ArraySlice<UInt8>?, size: Int, _ now: Instant,
    _ transportSequence: inout UInt16
  ) -> [(number: Int, bytes: [UInt8])] {
    let index = frame.encoding
    let number = track.append(frame)
    streams[index].present.append(number)
    let isLast = frame.spatial == video.structure.spatialLayers - 1
    let count = max(1, (size + Self.mostBytes - 1) / Self.mostBytes)
    return (0..<count).map { place in
      let mark = LayeredPayload.Mark(
        frame: frame, place: streams[index].place, part: place, parts: count,
        encoding: video.encodings[index])
      let packet = log.nextPacket
      let starts = place == 0 && frame.spatial == 0
      let ends = place == count - 1 && isLast
      log.append(
        PublishedTrack.Packet(
          sequence: streams[index].next, timestamp: frame.timestamp, run: 0, pictureID: frame.pictureID,
          tl0PictureIndex: frame.tl0PictureIndex, frame: UInt32(number), startsFrame: starts,
          isKeyFrame: frame.isKey, codec: codec.codec, sentAt: now))
      track.append(packetOf: number, place: place)
      let stamp = PayloadStamp(
        publisher: UInt32(log.publisher), track: UInt8(log.index), packet: UInt32(packet),
        frame: UInt32(number), length: UInt16(max(PayloadStamp.size, size / count)), isKeyFrame: frame.isKey,
        isFrameStart: starts, isFrameEnd: ends)
      var bytes = header(
        index, marker: ends, sequence: streams[index].next, timestamp: frame.timestamp, isRTX: false,
        &transportSequence)
      append(stamp, mark, picture.map { Self.part(of: $0, place: place, of: count) }, to: &bytes)
      track.note(bytes: bytes.count + 28, of: number)
      streams[index].keep(packet, bytes)
      return (packet, bytes)
    }
  }

  private static func part(of picture: ArraySlice<UInt8>, place: Int, of count: Int) -> ArraySlice<UInt8> {
    picture[
      picture.startIndex + picture.count * place / count..<picture.startIndex + picture.count * (place + 1)
        / count]
  }

  private func append(
    _ stamp: PayloadStamp, _ mark: LayeredPayload.Mark, _ recorded: ArraySlice<UInt8>?,
    to bytes: inout [UInt8]
  ) {
    if let recorded {
      bytes += LayeredPayload.vp8Descriptor(mark, video.structure)
      bytes += recorded
    } else {
      let nonce = video.isEncrypted ? SealedStamp.nonceSize : 0
      bytes += LayeredPayload.head(mark, video.structure, stampSize: nonce + Int(stamp.length))
      if video.isEncrypted {
        SealedStamp.write(stamp, nonce: random.next(), to: &bytes)
      } else {
        stamp.write(to: &bytes)
      }
    }
  }

  // MARK: - Packets

  private func header(
    _ index: Int, marker: Bool, sequence: UInt16, timestamp: UInt32, isRTX: Bool,
    _ transportSequence: inout UInt16
  ) -> [UInt8] {
    let ids = section.extensions
    let stream = streams[index]
    let names = isRTX || stream.namesItself
    let rid = isRTX ? ridIDs.repaired : ridIDs.media
    return [UInt8](unsafeUninitializedCapacity: 1_500 + SRTPSession.room) { buffer, count in
      guard
        var writer = RTPWriter(
          into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<96]),
          marker: marker, payloadType: isRTX ? codec.rtxPayloadType ?? 0 : codec.payloadType,
          sequence: sequence, timestamp: timestamp, ssrc: isRTX ? stream.rtxSSRC ?? 0 : stream.ssrc,
          // Whatever the ids are.
          form: section.allowsMixedExtensions ? .twoByte : .oneByte)
      else { return }
      if names, ids[.mid] != 0, let mid = MIDBytes(section.mid) { writer.append(id: ids[.mid], mid) }
      if names, rid != 0, let name = MIDBytes(video.encodings[index].rid) { writer.append(id: rid, name) }
      if ids[.transportSequence] != 0 {
        writer.append(id: ids[.transportSequence], transportSequence)
        transportSequence &+= 1
      }
      count = writer.finish()
    }
  }

  /// The retransmission of what the server asks for (RFC 4588).
  func retransmission(
    ssrc: UInt32, of wanted: UInt16, transportSequence: inout UInt16
  ) -> (number: Int, bytes: [UInt8])? {
    guard let index = streams.firstIndex(where: { $0.ssrc == ssrc }), streams[index].rtxSSRC != nil,
      codec.rtxPayloadType != nil,
      let kept = streams[index].kept.last(where: { log.packets[$0.number].sequence == wanted })
    else { return nil }
    guard let original = PlainPacket(kept.bytes) else { return nil }
    var bytes = header(
      index, marker: original.header.marker, sequence: streams[index].nextRTX,
      timestamp: original.header.timestamp,
      isRTX: true, &transportSequence)
    streams[index].nextRTX &+= 1
    bytes.append(bigEndian: wanted)
    return (kept.number, bytes + original.payload)
  }

  /// Of every stream that has sent something.
  func senderReports(now: Instant) -> [SenderReport] {
    streams.filter { $0.packetCount > 0 }.map {
      SenderReport(
        ssrc: $0.ssrc, ntp: clock.ntp(now),
        rtpTimestamp: $0.base &+ DriftingClock.units(clock.media(now, .video), rate: 90_000),
        packetCount: $0.packetCount, octetCount: $0.octetCount)
    }
  }
}

/// The stream of one encoding.
package struct LayeredStream {
  package let ssrc: UInt32
  let rtxSSRC: UInt32?
  let base: UInt32
  fileprivate(set) var next: UInt16
  fileprivate var nextRTX: UInt16
  fileprivate(set) var pictureID: UInt16
  fileprivate(set) var tl0PictureIndex: UInt8
  /// Counts its pictures, and those behind the last key frame.
  fileprivate(set) var picture = -1
  fileprivate(set) var place = -1
  /// Frames of the present picture, and of those before it, by spatial layer.
  fileprivate var present: [Int] = []
  fileprivate var recent: [[Int]] = []
  fileprivate var wantsKeyFrame = true
  private var keyFrameAt = Instant(nanoseconds: .min / 2)
  fileprivate var isWatched = true
  fileprivate var wasOn = false
  fileprivate var namesItself = true
  fileprivate var kept: [(number: Int, bytes: [UInt8])] = []
  package private(set) var packetCount: UInt32 = 0
  package private(set) var octetCount: UInt32 = 0

  fileprivate init(ssrc: UInt32, rtxSSRC: UInt32?, random: inout RandomSource) {
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    base = UInt32(truncatingIfNeeded: random.next())
    next = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    nextRTX = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    pictureID = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    tl0PictureIndex = UInt8(truncatingIfNeeded: random.next())
  }

  /// Of encodings that an offer announces by their SSRCs: the one after so many others.
  static func ssrc(_ index: Int, after first: UInt32) -> UInt32 { first &+ 2 &* UInt32(index) }

  private static let keyFrameInterval: Int64 = 250_000_000

  /// An encoder begins with one, also when it begins again.
  fileprivate func isKeyFrameDue(_ now: Instant) -> Bool {
    !wasOn || wantsKeyFrame && now.nanoseconds - keyFrameAt.nanoseconds >= Self.keyFrameInterval
  }

  /// The picture after the present one is the clip's first.
  fileprivate func isAtEnd(of recording: RecordedVideo) -> Bool { place + 1 >= recording.pictures.count }

  fileprivate mutating func begin(isKey: Bool, isBase: Bool, _ now: Instant) {
    if isKey {
      place = -1
      recent = []
      wantsKeyFrame = false
      keyFrameAt = now
    } else {
      recent.append(present)
      if recent.count > LayerStructure.cycle { recent.removeFirst() }
    }
    present = []
    picture += 1
    place += 1
    pictureID = (pictureID &+ 1) & 0x7FFF
    if isBase { tl0PictureIndex &+= 1 }
  }

  fileprivate mutating func keep(_ number: Int, _ bytes: [UInt8]) {
    kept.append((number, bytes))
    if kept.count > 600 { kept.removeFirst(200) }
    next &+= 1
    packetCount &+= 1
    octetCount &+= UInt32(bytes.count)
  }
}
