/// Reads WebM and Matroska as their bytes come: the tracks whose codecs are known, and their frames in the order in which they stand.
///
/// The file is read flat: of a segment and its clusters nothing but their content is wanted, so their sizes, which a file that grows
/// doesn't know, are of no importance. What else stands there is passed over without being kept; chapters, attachments and the index
/// cost nothing, however large.
public struct MatroskaReader: Sendable {
  public struct Frame: Equatable, Sendable {
    /// Its place in `tracks`.
    public var track: Int
    /// When it is presented, from the file's beginning, with the track's codec delay.
    public var nanoseconds: Int64
    public var isKeyFrame: Bool
    public var bytes: [UInt8]

    public init(track: Int, nanoseconds: Int64, isKeyFrame: Bool, bytes: [UInt8]) {
      self.track = track
      self.nanoseconds = nanoseconds
      self.isKeyFrame = isKeyFrame
      self.bytes = bytes
    }
  }

  /// Bytes of a block that are read.
  public static let largestBlock = 16 * 1_024 * 1_024
  /// Bytes of the tracks' descriptions that are read.
  public static let largestTracks = 1_024 * 1_024
  /// Of other elements that are wanted.
  static let largestSmall = 64 * 1_024

  /// Those whose codec is known here, once they have been described.
  public var tracks: [MatroskaTrack] { numbered.map(\.track) }

  var numbered: [NumberedTrack] = []
  /// Nanoseconds of a unit of the timestamps.
  var scale: UInt64 = 1_000_000
  var clusterTime: UInt64 = 0
  private var queue = ByteQueue()
  private var hasBegun = false
  private var hasTracks = false
  var ready: [Frame] = []
  private var taken = 0

  public init() {}

  public mutating func append(_ bytes: some Collection<UInt8>) { queue.append(bytes) }

  /// - Returns: nil until more has come.
  public mutating func next() throws(ContainerError) -> Frame? {
    while taken == ready.count {
      ready.removeAll(keepingCapacity: true)
      taken = 0
      guard try step() else { return nil }
    }
    defer { taken += 1 }
    return ready[taken]
  }

  /// Reads an element, or passes over it.
  /// - Returns: false until more has come.
  private mutating func step() throws(ContainerError) -> Bool {
    guard queue.count > 0 else { return false }
    let offset = queue.offset
    guard queue[0] > 0x0F else { throw .invalid(field: "an element's id", offset: offset) }
    let width = queue[0].leadingZeroBitCount + 1
    guard queue.count > width else { return false }
    guard queue[width] > 0 else { throw .invalid(field: "an element's size", offset: offset + width) }
    guard let (size, sizeWidth) = EBML.number(queue.peek(width..<min(queue.count, width + 8))) else {
      return false
    }
    let id = queue.peek(0..<width).reduce(0) { $0 << 8 | UInt32($1) }
    guard hasBegun || id == MatroskaID.ebml.rawValue else {
      throw .notThis(format: "WebM or Matroska", offset: offset)
    }
    let head = width + sizeWidth
    switch MatroskaID(rawValue: id) {
    case .segment, .cluster:
      _ = queue.take(head)
      return true
    case .ebml: return try take(id, head, size, limit: Self.largestSmall, offset)
    case .info, .timestamp: return try take(id, head, size, limit: Self.largestSmall, offset)
    case .tracks: return try take(id, head, size, limit: Self.largestTracks, offset)
    case .simpleBlock, .blockGroup: return try take(id, head, size, limit: Self.largestBlock, offset)
    default:
      guard let size else { throw .invalid(field: "an element's size", offset: offset + width) }
      _ = queue.take(head)
      queue.skip(size)
      return true
    }
  }

  /// Reads an element once all of it has come.
  private mutating func take(
    _ id: UInt32, _ head: Int, _ size: UInt64?, limit: Int, _ offset: Int
  ) throws(ContainerError) -> Bool {
    guard let size else { throw .invalid(field: "an element's size", offset: offset) }
    guard size <= UInt64(limit) else {
      throw .tooLarge(what: "an element", bytes: size, limit: limit, offset: offset)
    }
    guard queue.count >= head + Int(size) else { return false }
    _ = queue.take(head)
    let content = queue.take(Int(size))
    switch MatroskaID(rawValue: id) {
    case .ebml: try readHead(content, offset)
    case .info: scale = EBMLElements.unsigned(.timestampScale, in: content) ?? 1_000_000
    case .timestamp: clusterTime = EBMLElements.unsigned(content) ?? 0
    case .tracks where !hasTracks:
      hasTracks = true
      numbered = EBMLElements(content).compactMap {
        $0.id == MatroskaID.trackEntry.rawValue ? NumberedTrack($0.content) : nil
      }
      guard !numbered.isEmpty else { throw .noTrack(offset: offset) }
    case .simpleBlock: try read(block: content, isKeyFrame: nil, offset)
    case .blockGroup:
      if let block = EBMLElements.first(.block, in: content) {
        try read(block: block, isKeyFrame: EBMLElements.first(.referenceBlock, in: content) == nil, offset)
      }
    default: break
    }
    return true
  }

  private mutating func readHead(_ content: ArraySlice<UInt8>, _ offset: Int) throws(ContainerError) {
    let kind = EBMLElements.text(.docType, in: content)
    guard kind == "webm" || kind == "matroska" else {
      throw .notThis(format: "WebM or Matroska", offset: offset)
    }
    guard EBMLElements.unsigned(.docTypeReadVersion, in: content) ?? 1 <= 4 else {
      throw .invalid(field: "the version of Matroska", offset: offset)
    }
    hasBegun = true
  }
}
