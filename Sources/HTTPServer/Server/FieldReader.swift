internal import CMicroHTTPD
internal import Glibc

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Reads a request's fields where libmicrohttpd keeps them: in the bytes that came, with zero bytes in place of colons and
/// line ends.
///
/// It ends a name and a value at the first zero byte, so a client's own (`Content-Length: 0<NUL>34`) would hide what follows
/// it from this server, and perhaps not from the one behind or before it (RFC 9110 §5.5: such a value is invalid). So each
/// part has to begin right behind the one before: name, value, line end, next name, end of the head. A line that is
/// continued on the next one (RFC 9112 §5.2) is kept elsewhere, and refused by that.
struct FieldReader {
  private var headers = HTTPHeaders()
  private var isMalformed = false
  /// Where the line before ends.
  private var previousEnd: UnsafeRawPointer
  private let head: Range<UnsafeRawPointer>

  /// - Parameters:
  ///   - version: the last part of the request line.
  ///   - head: the bytes of request line and fields, with the empty line that ends them.
  static func fields(
    of handle: OpaquePointer, after version: UnsafePointer<CChar>, head: Range<UnsafeRawPointer>
  ) throws(RequestRefusal) -> HTTPHeaders {
    var reader = FieldReader(previousEnd: UnsafeRawPointer(version) + strlen(version), head: head)
    withUnsafeMutablePointer(to: &reader) { reader in
      _ = MHD_get_connection_values_n(
        handle, .HEADER_KIND,
        { reader, _, name, nameSize, value, valueSize in
          reader?.assumingMemoryBound(to: FieldReader.self).pointee.take(
            name: UnsafeRawBufferPointer(start: name, count: nameSize),
            value: UnsafeRawBufferPointer(start: value, count: valueSize))
          return .YES
        }, reader)
    }
    guard !reader.isMalformed, reader.isAtEnd else { throw .malformedField }
    return reader.headers
  }

  private init(previousEnd: UnsafeRawPointer, head: Range<UnsafeRawPointer>) {
    self.previousEnd = previousEnd
    self.head = head
  }

  /// Two line ends follow the last field, each of one byte or two, and nothing else.
  private var isAtEnd: Bool {
    guard head.contains(previousEnd) else { return false }
    let rest = UnsafeRawBufferPointer(start: previousEnd, count: head.upperBound - previousEnd)
    return (2...4).contains(rest.count) && rest.allSatisfy { $0 == 0 || $0 == 10 || $0 == 13 }
  }

  private mutating func take(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    #if PLANTED_DEFECTS
      let before =
        PlantedDefect.isOn(.fieldCut) ? name.baseAddress.map { $0 - 1 } ?? previousEnd : previousEnd
    #else
      let before = previousEnd
    #endif
    guard let nameStart = name.baseAddress, let valueStart = value.baseAddress,
      head.contains(nameStart), valueStart >= nameStart, valueStart + value.count <= head.upperBound,
      (1...2).contains(nameStart - before), isFilled(from: nameStart + name.count, to: valueStart)
    else {
      isMalformed = true
      return
    }
    previousEnd = valueStart + value.count
    // Also a bare CR, which libmicrohttpd leaves in its line and others take for the end of it.
    let isPrintable = { (byte: UInt8) in byte >= 32 && byte != 127 || byte == 9 }
    if !name.allSatisfy(isPrintable) || !value.allSatisfy(isPrintable) { isMalformed = true }
    let field = String(decoding: name, as: UTF8.self)
    // Blanks behind a coding are allowed (RFC 9110 §5.5), but libmicrohttpd takes them for a part of its name.
    if field.asciiLowercased == "transfer-encoding", value.last == 32 || value.last == 9 {
      isMalformed = true
    }
    headers.add(field, String(decoding: value, as: UTF8.self).trimmingSpaces())
  }

  /// Between name and value stand what was the colon, and spaces.
  private func isFilled(from start: UnsafeRawPointer, to end: UnsafeRawPointer) -> Bool {
    guard end > start else { return false }
    return UnsafeRawBufferPointer(start: start + 1, count: end - start - 1).allSatisfy { $0 == 32 || $0 == 9 }
  }
}
