import Wire

/// RTP header, extensions, and the way through RTX and back.
@Sendable public func fuzzRTP(_ bytes: UnsafeRawBufferPointer) {
  guard let header = try? RTPHeader(bytes) else { return }
  check(header.headerSize >= 12 + 4 * header.csrcCount, "the header holds its contributors")
  check(header.payloadSize >= 0 && header.paddingSize >= 0, "sizes are not negative")
  check(header.headerSize + header.payloadSize + header.paddingSize == bytes.count, "ranges fill the packet")
  check(
    header.extensionSize == 0 || header.extensionOffset + header.extensionSize == header.headerSize,
    "the extension block ends the header")

  let elements = walk(bytes, header)
  rewrite(bytes, header, elements)
  retransmit(bytes, header)
}

private typealias Element = HeaderExtensionReader.Element

private func walk(_ bytes: UnsafeRawBufferPointer, _ header: RTPHeader) -> [Element] {
  var reader = HeaderExtensionReader(bytes, header)
  var elements: [Element] = []
  var place = header.extensionOffset
  let mid = MIDBytes("0")
  while let element = reader.next() {
    check(element.id != 0, "no element is padding")
    check(element.offset > place || place == 0, "elements go forward")
    place = element.offset + element.size
    check(place <= header.headerSize, "elements stay in the block")
    _ = AudioLevel(bytes, element)
    _ = TransportSequence.read(bytes, element)
    if mid?.matches(bytes, element) == true { check(element.size == 1, "a MID matches in full") }
    elements.append(element)
  }
  check(reader.ending != .unfinished, "the end has a reason")
  return elements
}

/// The same header and elements, written again, are read as the same.
private func rewrite(_ bytes: UnsafeRawBufferPointer, _ header: RTPHeader, _ elements: [Element]) {
  let form: HeaderExtensionForm = header.extensionProfile == 0xBEDE ? .oneByte : .twoByte
  let copy = written(header.headerSize) { buffer in
    guard
      var writer = RTPWriter(
        into: buffer, marker: header.marker, payloadType: header.payloadType, sequence: header.sequence,
        timestamp: header.timestamp, ssrc: header.ssrc, csrcCount: header.csrcCount, form: form),
      let base = bytes.baseAddress
    else { return nil }
    for index in 0..<header.csrcCount {
      writer.setContributor(index, ssrc: base.loadBigEndian(at: 12 + 4 * index, as: UInt32.self))
    }
    for element in elements {
      check(
        writer.append(id: element.id, base + element.offset, size: element.size),
        "what was read fits where it was")
    }
    return writer.finish()
  }
  guard let copy else { return check(false, "the header fits where it was") }
  copy.withUnsafeBytes { copied in
    guard let again = try? RTPHeader(copied) else { return check(false, "what is written is read") }
    check(
      again.marker == header.marker && again.payloadType == header.payloadType
        && again.sequence == header.sequence && again.timestamp == header.timestamp
        && again.ssrc == header.ssrc
        && again.csrcCount == header.csrcCount, "fields survive")
    check(
      copied[12..<12 + 4 * again.csrcCount].elementsEqual(bytes[12..<12 + 4 * again.csrcCount]),
      "contributors survive")
    let found = walk(copied, again)
    check(found.count == elements.count, "no element is lost")
    for (a, b) in zip(found, elements) {
      check(
        a.id == b.id
          && copied[a.offset..<a.offset + a.size].elementsEqual(bytes[b.offset..<b.offset + b.size]),
        "elements survive")
    }
  }
}

private func retransmit(_ bytes: UnsafeRawBufferPointer, _ header: RTPHeader) {
  let size = header.headerSize + header.payloadSize
  let sealed = written(size + 2) {
    RTX.encapsulate(bytes, header, into: $0, payloadType: 97, sequence: 1, ssrc: 2)
  }
  guard var sealed else { return check(false, "a retransmission is two bytes longer") }
  sealed.withUnsafeMutableBytes { packet in
    guard let rtx = try? RTPHeader(UnsafeRawBufferPointer(packet)) else {
      return check(false, "a retransmission is RTP")
    }
    check(
      RTX.originalSequence(of: UnsafeRawBufferPointer(packet), rtx) == header.sequence,
      "the number is carried")
    guard let start = RTX.decapsulate(packet, rtx, payloadType: header.payloadType, ssrc: header.ssrc) else {
      return check(false, "a retransmission can be undone")
    }
    check(packet[start] == bytes[0] & ~0x20, "the first byte survives, without padding")
    check(packet[(start + 1)...].elementsEqual(bytes[1..<size]), "the packet survives")
  }
  // The bytes taken for a retransmission themselves.
  var copy = Array(bytes)
  copy.withUnsafeMutableBytes { packet in
    guard let start = RTX.decapsulate(packet, header, payloadType: 96, ssrc: 7) else {
      return check(header.payloadSize < 2, "only a short payload is no retransmission")
    }
    guard let restored = try? RTPHeader(UnsafeRawBufferPointer(rebasing: packet[start...])) else {
      return check(false, "the restored packet is RTP")
    }
    check(restored.ssrc == 7 && restored.payloadType == 96, "it is the original's stream")
    check(restored.payloadSize == header.payloadSize - 2, "the number is gone from the payload")
  }
}

/// VP8 descriptor, its rewriting, and the key frame behind it.
@Sendable public func fuzzVP8(_ bytes: UnsafeRawBufferPointer) {
  guard let descriptor = try? VP8Descriptor(bytes) else { return }
  check(descriptor.size >= 1 && descriptor.size <= min(6, bytes.count), "the descriptor is in the payload")
  check(descriptor.pictureID <= descriptor.pictureIDMask, "the picture id is in its circle")
  check(
    descriptor.pictureIDOffset < descriptor.size && descriptor.tl0PictureIndexOffset < descriptor.size,
    "fields are in the descriptor")
  if VP8KeyFrameSize(bytes, descriptor) != nil {
    check(descriptor.startsKeyFrame(bytes), "only key frames have a size")
  }

  var copy = Array(bytes)
  copy.withUnsafeMutableBytes { payload in
    var rewritten = descriptor
    rewritten.rewrite(payload, pictureID: 0x5AA5, tl0PictureIndex: 0x3C)
    check((try? VP8Descriptor(UnsafeRawBufferPointer(payload))) == rewritten, "what is written is read")
    check(rewritten.size == descriptor.size, "widths stay")
    rewritten.rewrite(payload, pictureID: descriptor.pictureID, tl0PictureIndex: descriptor.tl0PictureIndex)
    check(payload.elementsEqual(bytes), "nothing else is touched")
  }
}
