/// One stream of a track: the only one, or one of a simulcast (RFC 8853).
public struct ReceiveEncoding: Equatable, Sendable {
  /// How its packets name it (RFC 8852 §3); nil where the SSRC alone tells.
  public var rid: String?
  /// Announced by `a=ssrc`; the MID extension finds the stream where nothing is.
  public var ssrc: UInt32?
  public var rtxSSRC: UInt32?
  /// Of its pictures, as its publisher says; both 0 where it doesn't.
  public var picture = PictureSize()

  public init(rid: String? = nil, ssrc: UInt32? = nil, rtxSSRC: UInt32? = nil) {
    self.rid = rid
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
  }
}

extension [ReceiveEncoding] {
  /// A line of a description is no longer.
  private static var ridLimit: Int { 8 * 1_024 }

  /// The streams of the first encoding stand before the section's name, as builds that took one encoding wrote them.
  func encodeFirst(into writer: inout StateWriter) { self[0].encodeStreams(into: &writer) }

  /// Everything else: 0 and 1 are one encoding without and with a RID, 2 is several, 3 is any number with the sizes of their pictures.
  func encodeRest(into writer: inout StateWriter) {
    let haveSizes = contains { $0.picture.pixels > 0 }
    guard count > 1 || haveSizes else {
      writer.write(self[0].rid != nil)
      if let rid = self[0].rid { writer.write(rid) }
      return
    }
    writer.write(UInt8(haveSizes ? 3 : 2))
    writer.write(UInt8(count))
    for (index, encoding) in enumerated() {
      if index > 0 { encoding.encodeStreams(into: &writer) }
      writer.write(encoding.rid != nil)
      if let rid = encoding.rid { writer.write(rid) }
      guard haveSizes else { continue }
      writer.write(encoding.picture.width)
      writer.write(encoding.picture.height)
    }
  }

  init(first: ReceiveEncoding, from reader: inout StateReader) throws(StateError) {
    self = [first]
    let offset = reader.offset
    let form = try reader.integer(UInt8.self)
    switch form {
    case 0: break
    case 1: self[0].rid = try reader.string(limit: Self.ridLimit)
    case 2, 3:
      let count = Int(try reader.integer(UInt8.self))
      guard count > (form == 2 ? 1 : 0), count <= ReceiveSection.mostEncodings else {
        throw .invalid(field: "encodings of a section", offset: offset)
      }
      for index in 0..<count {
        if index > 0 { append(try ReceiveEncoding(from: &reader)) }
        if try reader.bool() { self[index].rid = try reader.string(limit: Self.ridLimit) }
        guard form == 3 else { continue }
        self[index].picture = PictureSize(width: try reader.integer(), height: try reader.integer())
      }
    default: throw .invalid(field: "encodings of a section", offset: offset)
    }
  }
}

extension ReceiveEncoding {
  fileprivate func encodeStreams(into writer: inout StateWriter) {
    for number in [ssrc, rtxSSRC] {
      writer.write(number != nil)
      writer.write(number ?? 0)
    }
  }

  /// The streams alone.
  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    for field in [\ReceiveEncoding.ssrc, \.rtxSSRC] {
      let isPresent = try reader.bool()
      let number = try reader.integer(UInt32.self)
      if isPresent { self[keyPath: field] = number }
    }
  }
}

extension AgreedMedia {
  /// Sizes that a description is silent of are those that were said before, of the same encoding.
  public func keepingSizes(of before: AgreedMedia) -> AgreedMedia {
    var new = self
    for place in new.receive.indices {
      guard let old = before.receive.first(where: { $0.index == new.receive[place].index }) else { continue }
      let encodings = new.receive[place].encodings
      for index in encodings.indices where encodings[index].picture.pixels == 0 {
        // Encodings without names are known by their order.
        let known =
          encodings[index].rid == nil
          ? (old.encodings.count == encodings.count && old.encodings[index].rid == nil
            ? old.encodings[index] : nil)
          : old.encodings.first { $0.rid == encodings[index].rid }
        if let known { new.receive[place].encodings[index].picture = known.picture }
      }
    }
    return new
  }
}
