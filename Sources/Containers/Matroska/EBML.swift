/// Elements of EBML (RFC 8794): an id, a size and content, where a size is a number that says by its first bits how long it is.
enum EBML {
  /// A size that isn't known when it is written, in eight bytes.
  static let unknownSize: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

  static func element(_ id: MatroskaID, _ content: [UInt8]) -> [UInt8] {
    id.bytes + size(content.count) + content
  }
  static func element(_ id: MatroskaID, _ children: [[UInt8]]) -> [UInt8] {
    element(id, Array(children.joined()))
  }
  static func element(_ id: MatroskaID, _ text: String) -> [UInt8] { element(id, Array(text.utf8)) }
  static func element(_ id: MatroskaID, _ number: UInt64) -> [UInt8] {
    let width = max(1, (71 - number.leadingZeroBitCount) / 8)
    return element(id, (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
  }
  static func real(_ id: MatroskaID, _ number: Double) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number.bitPattern)
    return element(id, bytes)
  }

  /// Room for what is known later: an element that readers pass over.
  /// - Parameter count: of all its bytes, 2–127.
  static func void(_ count: Int) -> [UInt8] {
    MatroskaID.void.bytes + [0x80 | UInt8(count - 2)] + [UInt8](repeating: 0, count: count - 2)
  }

  /// As short as it can be; all ones mean that it isn't known, so they take a byte more.
  static func size(_ count: Int) -> [UInt8] {
    for width in 1...7 where count < 1 << (7 * width) - 1 { return size(count, width: width) }
    return size(count, width: 8)
  }

  /// - Parameter width: bytes that it takes, 1–8.
  static func size(_ count: Int, width: Int) -> [UInt8] {
    let marked = UInt64(count) | 1 << UInt64(7 * width)
    return (0..<width).reversed().map { UInt8(truncatingIfNeeded: marked >> UInt64(8 * $0)) }
  }

  /// Reads a number of a size's form.
  /// - Returns: nil where more bytes are needed, or `bytes` begins with none of at most eight. `value` is nil where all its bits are
  ///   ones, which is a size that isn't known.
  static func number(_ bytes: some RandomAccessCollection<UInt8>) -> (value: UInt64?, width: Int)? {
    guard let first = bytes.first, first > 0 else { return nil }
    let width = first.leadingZeroBitCount + 1
    guard bytes.count >= width else { return nil }
    var value = UInt64(first) & (0xFF >> UInt64(width))
    for byte in bytes.dropFirst().prefix(width - 1) { value = value << 8 | UInt64(byte) }
    return (value == 1 << UInt64(7 * width) - 1 ? nil : value, width)
  }
}

/// The elements of Matroska that are written and read (RFC 9559).
enum MatroskaID: UInt32 {
  case ebml = 0x1A45_DFA3
  case ebmlVersion = 0x4286
  case ebmlReadVersion = 0x42F7
  case ebmlMaxIDLength = 0x42F2
  case ebmlMaxSizeLength = 0x42F3
  case docType = 0x4282
  case docTypeVersion = 0x4287
  case docTypeReadVersion = 0x4285
  case void = 0xEC
  case segment = 0x1853_8067
  case seekHead = 0x114D_9B74
  case seek = 0x4DBB
  case seekID = 0x53AB
  case seekPosition = 0x53AC
  case info = 0x1549_A966
  case timestampScale = 0x2A_D7B1
  case duration = 0x4489
  case muxingApp = 0x4D80
  case writingApp = 0x5741
  case tracks = 0x1654_AE6B
  case trackEntry = 0xAE
  case trackNumber = 0xD7
  case trackUID = 0x73C5
  case trackType = 0x83
  case flagLacing = 0x9C
  case codecID = 0x86
  case codecPrivate = 0x63A2
  case codecDelay = 0x56AA
  case seekPreRoll = 0x56BB
  case language = 0x22_B59C
  case name = 0x536E
  case video = 0xE0
  case pixelWidth = 0xB0
  case pixelHeight = 0xBA
  case audio = 0xE1
  case samplingFrequency = 0xB5
  case channels = 0x9F
  case contentEncodings = 0x6D80
  case contentEncoding = 0x6240
  case contentCompression = 0x5034
  case contentCompAlgo = 0x4254
  case contentCompSettings = 0x4255
  case cluster = 0x1F43_B675
  case timestamp = 0xE7
  case simpleBlock = 0xA3
  case blockGroup = 0xA0
  case block = 0xA1
  case referenceBlock = 0xFB
  case cues = 0x1C53_BB6B
  case cuePoint = 0xBB
  case cueTime = 0xB3
  case cueTrackPositions = 0xB7
  case cueTrack = 0xF7
  case cueClusterPosition = 0xF1

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: rawValue)
    return Array(bytes.drop { $0 == 0 })
  }
}
