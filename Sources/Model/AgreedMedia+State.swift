/// Texts come from a description, whose lines are no longer; a codec for each payload type at most.
private let textLimit = 8 * 1_024

extension NegotiatedCodec {
  public func encode(into writer: inout StateWriter) {
    writer.write(format.rawValue)
    writer.write(payloadType)
    writer.write(rtxPayloadType ?? 255)
    writer.write(nack)
    writer.write(pli)
    writer.write(fir)
    writer.write(transportCC)
    // The second bit is of builds that know RFC 8888.
    writer.write((remb ? 1 : 0) | (ccfb ? 2 : 0) as UInt8)
    writer.write(formatParameters)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    guard let format = CodecFormat(rawValue: try reader.integer()) else {
      throw .invalid(field: "codec format", offset: reader.offset)
    }
    let payloadType: UInt8 = try reader.integer()
    let rtx: UInt8 = try reader.integer()
    self.init(
      format: format, payloadType: payloadType, rtxPayloadType: rtx == 255 ? nil : rtx,
      nack: try reader.bool(), pli: try reader.bool(), fir: try reader.bool(),
      transportCC: try reader.bool())
    let bits = try reader.integer(UInt8.self)
    guard bits < 4 else { throw .invalid(field: "feedback", offset: reader.offset - 1) }
    (remb, ccfb) = (bits & 1 == 1, bits & 2 == 2)
    formatParameters = try reader.string(limit: textLimit)
  }
}

extension HeaderExtensionMap {
  public func encode(into writer: inout StateWriter) {
    for kind in 0..<16 { writer.write(ids[kind]) }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init()
    for kind in 0..<16 { ids[kind] = try reader.integer() }
  }
}

/// What the two kinds of section have in common.
private struct SectionHead {
  var index: UInt16
  var mid: String
  var kind: MediaKind
  var codecs: [NegotiatedCodec]
  var extensions: HeaderExtensionMap

  func encode(into writer: inout StateWriter) {
    writer.write(index)
    writer.write(mid)
    writer.write(kind.rawValue)
    writer.write(UInt32(codecs.count))
    for codec in codecs { codec.encode(into: &writer) }
    extensions.encode(into: &writer)
  }

  init(index: UInt16, mid: String, kind: MediaKind, codecs: [NegotiatedCodec], extensions: HeaderExtensionMap)
  {
    self.index = index
    self.mid = mid
    self.kind = kind
    self.codecs = codecs
    self.extensions = extensions
  }

  init(from reader: inout StateReader) throws(StateError) {
    index = try reader.integer()
    mid = try reader.string(limit: textLimit)
    guard let kind = MediaKind(rawValue: try reader.integer()) else {
      throw .invalid(field: "media kind", offset: reader.offset)
    }
    self.kind = kind
    codecs = []
    for _ in 0..<(try reader.count(limit: 128)) { codecs.append(try NegotiatedCodec(from: &reader)) }
    extensions = try HeaderExtensionMap(from: &reader)
  }
}

extension AgreedMedia {
  /// Sections of one transport that state can hold.
  private static let sectionLimit = 1_024

  public func encode(into writer: inout StateWriter) {
    writer.write(UInt32(receive.count))
    for section in receive {
      SectionHead(
        index: section.index, mid: section.mid, kind: section.kind, codecs: section.codecs,
        extensions: section.extensions
      ).encode(into: &writer)
      section.encodings.encodeFirst(into: &writer)
      writer.write(section.cname)
      section.encodings.encodeRest(into: &writer)
    }
    writer.write(UInt32(send.count))
    for section in send {
      SectionHead(
        index: section.index, mid: section.mid, kind: section.kind, codecs: section.codecs,
        extensions: section.extensions
      ).encode(into: &writer)
      writer.write(section.ssrc)
      writer.write(section.rtxSSRC != nil)
      writer.write(section.rtxSSRC ?? 0)
      writer.write(section.cname)
      writer.write(section.streamID)
      writer.write(section.allowsMixedExtensions)
    }
    writer.write(allowsReducedSizeRTCP)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init()
    for _ in 0..<(try reader.count(limit: Self.sectionLimit)) {
      let head = try SectionHead(from: &reader)
      let first = try ReceiveEncoding(from: &reader)
      let cname = try reader.string(limit: textLimit)
      receive.append(
        ReceiveSection(
          index: head.index, mid: head.mid, kind: head.kind, codecs: head.codecs, extensions: head.extensions,
          encodings: try [ReceiveEncoding](first: first, from: &reader), cname: cname))
    }
    for _ in 0..<(try reader.count(limit: Self.sectionLimit)) {
      let head = try SectionHead(from: &reader)
      let ssrc: UInt32 = try reader.integer()
      let rtxSSRC = try Self.optional(&reader)
      send.append(
        SendSection(
          index: head.index, mid: head.mid, kind: head.kind, codecs: head.codecs, extensions: head.extensions,
          ssrc: ssrc, rtxSSRC: rtxSSRC, cname: try reader.string(limit: textLimit),
          streamID: try reader.string(limit: textLimit), allowsMixedExtensions: try reader.bool()))
    }
    allowsReducedSizeRTCP = try reader.bool()
  }

  private static func optional(_ reader: inout StateReader) throws(StateError) -> UInt32? {
    let present = try reader.bool()
    let value: UInt32 = try reader.integer()
    return present ? value : nil
  }
}

extension [Fingerprint] {
  public func encode(into writer: inout StateWriter) {
    writer.write(UInt32(count))
    for fingerprint in self {
      writer.write(fingerprint.algorithm.rawValue)
      writer.write(fingerprint.digest)
    }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init()
    for _ in 0..<(try reader.count(limit: 16)) {
      guard let algorithm = Fingerprint.Algorithm(rawValue: try reader.integer()) else {
        throw .invalid(field: "fingerprint algorithm", offset: reader.offset)
      }
      append(Fingerprint(algorithm: algorithm, digest: try reader.array(limit: 64)))
    }
  }
}
