internal import Crypto
internal import Engine
internal import Model
internal import Signalling
internal import SyntheticPeers
internal import Wire

/// What leaves the server for subscribers on narrow paths.
extension Conference {
  /// A datagram leaves for a subscriber.
  func noteLayers(_ bytes: [UInt8], _ subscriber: Participant, _ books: LayerBooks) {
    let size = bytes.count + 28
    var tenth = PathRecord.Tenth(bytes: size)
    defer {
      books.paths[subscriber.number, default: PathRecord()].note(now) {
        $0.bytes += tenth.bytes
        $0.padding += tenth.padding
        $0.again += tenth.again
        $0.audio += tenth.audio
      }
    }
    guard let first = bytes.first, (128...191).contains(first),
      !bytes.withUnsafeBytes({ RTCPPacket.matches($0) }),
      let header = SealedHeader(bytes)
    else { return }
    if let section = subscriber.media.send.first(where: { $0.ssrc == header.ssrc }) {
      guard section.kind == .video else {
        tenth.audio = size
        return noteAudio(header.ssrc, section.index, subscriber, books)
      }
      notePicture(bytes, section, subscriber, books)
    } else if header.isPadded {
      tenth.padding = size
      journal.count(.probePacket)
    } else {
      tenth.again = size
    }
  }

  /// Sound is sent every 20 ms.
  private static let longestPause: Int64 = 250_000_000

  private func noteAudio(
    _ ssrc: UInt32, _ slot: UInt16, _ subscriber: Participant, _ books: LayerBooks
  ) {
    let record = books.paths[subscriber.number]
    if let last = record?.lastAudio[ssrc], now.nanoseconds - last.nanoseconds > Self.longestPause,
      subscriber.feeds[slot]?.last.map({ $0.from < last }) ?? false
    {
      journal.violation(
        now,
        "sound in slot \(slot) of \(subscriber.number) pauses for \((now - last).wholeNanoseconds / 1_000_000) ms"
      )
    }
    books.paths[subscriber.number, default: PathRecord()].lastAudio[ssrc] = now
  }

  private func notePicture(
    _ sealed: [UInt8], _ section: SendSection, _ subscriber: Participant, _ books: LayerBooks
  ) {
    let number = subscriber.number
    books.unopened[number, default: []].append((sealed, section, now))
    if books.ears[number] == nil, let keys = subscriber.peer.association {
      books.ears[number] = try? SRTPSession(keys)
    }
    guard let ear = books.ears[number] else { return }
    for waiting in books.unopened[number] ?? [] {
      var bytes = waiting.sealed
      // What comes again to who has no retransmission stream has been seen.
      guard (try? ear.openRTP(&bytes)) != nil else { continue }
      notePicture(opened: bytes, waiting.section, subscriber, books, at: waiting.at)
    }
    books.unopened[number] = []
  }

  private func notePicture(
    opened bytes: [UInt8], _ section: SendSection, _ subscriber: Participant, _ books: LayerBooks,
    at moment: Instant
  ) {
    let name = "slot \(section.index) of \(subscriber.number)"
    let packet: ModelDecoder.Packet
    switch bytes.withUnsafeBytes({ read($0, section) }) {
    case .of(let read): packet = read
    case .without: return
    case .unreadable(let reason): return journal.violation(now, "\(name): \(reason)")
    }
    let stream = books.stream(LayerBooks.Slot(subscriber: subscriber.number, ssrc: section.ssrc))
    let isReplaced = subscriber.replacedAt.contains { stream.lastAt <= $0 && $0 <= moment }
    let step = stream.decoder.take(packet, mayBeBehindLoss: isReplaced)
    stream.lastAt = moment
    for problem in step.problems { journal.violation(now, "\(name) (\(packet.track.publisher)): \(problem)") }
    let frame = packet.frame
    if step.isNewPicture {
      journal.count(.pictureDecoded)
      stream.pictures.append(
        SlotRecord.Picture(
          track: packet.track, encoding: frame.encoding, number: frame.picture, spatial: frame.spatial,
          temporal: frame.temporal, at: moment))
      noteChange(step, packet, subscriber)
    } else {
      stream.pictures[stream.pictures.count - 1].spatial = frame.spatial
    }
    judgeWanted(step, packet, section, subscriber, books)
  }

  private enum Opened {
    case of(ModelDecoder.Packet)
    /// Of a track without layers.
    case without
    case unreadable(String)
  }

  private func read(_ plain: UnsafeRawBufferPointer, _ section: SendSection) -> Opened {
    guard let header = try? RTPHeader(plain),
      let codec = section.codecs.first(where: { $0.payloadType == header.payloadType })?.codec
    else { return .unreadable("a header that can't be read") }
    guard header.paddingSize == 0, header.payloadSize > 0 else {
      return .unreadable("padding under number \(header.sequence) of its media")
    }
    let payload = UnsafeRawBufferPointer(
      rebasing: plain[header.payloadOffset..<header.payloadOffset + header.payloadSize])
    guard let stamp = PayloadFormat.stamp(payload, codec, primaryOffset: 0) else {
      return .unreadable("a payload of no publisher under number \(header.sequence)")
    }
    let name = TrackName(Int(stamp.publisher), Int(stamp.track))
    guard let track = journal.layered[name], Int(stamp.packet) < track.packets.count else {
      return .without
    }
    let known = track.packets[Int(stamp.packet)]
    var packet = ModelDecoder.Packet(
      sequence: header.sequence, timestamp: header.timestamp, isMarked: header.marker, pictureID: 0,
      tl0PictureIndex: nil, isVP8: codec == .vp8, track: name, frame: track.frames[known.frame],
      frameNumber: known.frame, place: known.place)
    if codec == .vp8, let descriptor = try? VP8Descriptor(payload) {
      packet.pictureID = descriptor.pictureID
      packet.tl0PictureIndex = descriptor.tl0PictureIndex
      packet.namesReferences = true
    } else if codec == .vp9, let descriptor = try? VP9Descriptor(payload) {
      packet.pictureID = descriptor.pictureID
      packet.tl0PictureIndex = descriptor.hasTL0PictureIndex ? descriptor.tl0PictureIndex : nil
      packet.namesReferences = true
    }
    return .of(packet)
  }

  private func noteChange(_ step: ModelDecoder.Step, _ packet: ModelDecoder.Packet, _ subscriber: Participant)
  {
    guard let before = step.before, before.track == packet.track,
      let video = journal.layered[packet.track]?.video
    else { return }
    let (old, new) = (before.frame.encoding, packet.frame.encoding)
    if old != new {
      let isUp = video.encodings[new].rate > video.encodings[old].rate
      journal.count(isUp ? .encodingUp : .encodingDown)
      journal.trace(
        now,
        "a slot of \(subscriber.number) goes from \(video.encodings[old].rid) to \(video.encodings[new].rid)")
    } else if packet.frame.isKey, packet.frame.sentAt - before.frame.sentAt > .milliseconds(500) {
      journal.count(.pictureResumed)
    }
  }

  // MARK: - What was asked for

  /// Until a change of what a subscriber wants shows: the next look at what all get, and for less than what is shown the next key
  /// frame of what is.
  private static let offPatience = Duration.milliseconds(700)
  private static let lessPatience = Duration.milliseconds(6_500)

  private func judgeWanted(
    _ step: ModelDecoder.Step, _ packet: ModelDecoder.Packet, _ section: SendSection,
    _ subscriber: Participant, _ books: LayerBooks
  ) {
    guard let view = books.views[subscriber.number]?[packet.track]?.last(where: { $0.at <= now }) else {
      return
    }
    let name = "slot \(section.index) of \(subscriber.number)"
    if view.picture.quality == .off, now - view.at > Self.offPatience {
      journal.violation(now, "\(name) gets a picture of \(packet.track.publisher), which it turned off")
    }
    guard step.isNewPicture, now - view.at > Self.lessPatience, let track = journal.layered[packet.track],
      let choices = LayerChoices(track, from: now.earlier(by: Self.lessPatience + .seconds(2)), until: now)
    else { return }
    // The middle of them is another where one is known to the publisher alone.
    guard choices.areAll || view.picture.quality != .medium else { return }
    let most = choices.mostSize(view.picture)
    let frame = packet.frame
    if choices.size(frame.encoding, frame.spatial).map({ $0 > most }) ?? false {
      journal.violation(
        now, "\(name) gets encoding \(frame.encoding), layer \(frame.spatial), larger than asked for")
    }
  }
}
