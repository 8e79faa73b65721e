internal import Model
internal import Wire

extension MatroskaReader {
  /// Reads a block (RFC 9559 §10): whose it is, when, and one frame or several.
  /// - Parameter isKeyFrame: nil where the block says so itself.
  mutating func read(
    block: ArraySlice<UInt8>, isKeyFrame: Bool?, _ offset: Int
  ) throws(ContainerError) {
    guard let (number, width) = EBML.number(block), let number, block.count >= width + 3 else {
      throw .invalid(field: "a block", offset: offset)
    }
    guard let track = numbered.firstIndex(where: { $0.number == number }) else { return }
    var rest = block.dropFirst(width)
    let relative = Int16(bitPattern: UInt16(rest.removeFirst()) << 8 | UInt16(rest.removeFirst()))
    let flags = rest.removeFirst()
    guard let frames = Self.frames(rest, lacing: flags >> 1 & 3) else {
      throw .invalid(field: "a block's lacing", offset: offset)
    }
    let units = Int64(clamping: clusterTime).addingReportingOverflow(Int64(relative))
    var (time, overflow) = max(0, units.partialValue).multipliedReportingOverflow(by: Int64(clamping: scale))
    if units.overflow { overflow = true }
    for frame in frames {
      guard !overflow else { throw .invalid(field: "a block's timestamp", offset: offset) }
      ready.append(
        Frame(
          track: track, nanoseconds: time, isKeyFrame: isKeyFrame ?? (flags & 0x80 != 0),
          bytes: numbered[track].stripped + frame))
      // A block has the time of its first frame.
      guard numbered[track].track.codec == .opus, let packet = try? OpusPacket(frame) else { continue }
      (time, overflow) = time.addingReportingOverflow(Int64(packet.samples) * 1_000_000 / 48)
    }
  }

  /// Divides what stands in a block.
  /// - Returns: nil where sizes don't fit into it, or one of several frames is empty: of those a few bytes could claim hundreds.
  private static func frames(_ content: ArraySlice<UInt8>, lacing: UInt8) -> [ArraySlice<UInt8>]? {
    guard lacing > 0 else { return [content] }
    guard let count = content.first.map({ Int($0) + 1 }) else { return nil }
    var rest = content.dropFirst()
    var sizes: [Int] = []
    switch lacing {
    case 1: while sizes.count < count - 1 { sizes.append(xiphSize(&rest)) }
    case 2: sizes = Array(repeating: rest.count / count, count: count - 1)
    default:
      guard let read = ebmlSizes(&rest, count: count - 1) else { return nil }
      sizes = read
    }
    var frames: [ArraySlice<UInt8>] = []
    for size in sizes {
      guard size > 0, size < rest.count else { return nil }
      frames.append(rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    return frames + [rest]
  }

  /// A sum of bytes, the last of which is below 255.
  private static func xiphSize(_ rest: inout ArraySlice<UInt8>) -> Int {
    var size = 0
    while let byte = rest.popFirst() {
      size += Int(byte)
      if byte < 255 { break }
    }
    return size
  }

  /// The first size, and how much each of the others differs from the one before it.
  private static func ebmlSizes(_ rest: inout ArraySlice<UInt8>, count: Int) -> [Int]? {
    var sizes: [Int] = []
    while sizes.count < count {
      guard let (value, width) = EBML.number(rest) else { return nil }
      // All ones are a number here.
      let number = Int64(value ?? 1 << UInt64(7 * width) - 1)
      rest = rest.dropFirst(width)
      let size = sizes.last.map { Int64($0) + number - (1 << Int64(7 * width - 1) - 1) } ?? number
      guard size >= 0, size <= Int64(largestBlock) else { return nil }
      sizes.append(Int(size))
    }
    return sizes
  }
}
