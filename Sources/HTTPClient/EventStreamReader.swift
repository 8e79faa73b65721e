#if PLANTED_DEFECTS
  internal import Model
#endif

/// One event of an event stream.
public struct ServerSentEvent: Equatable, Sendable {
  /// What its server calls it; `message` where it doesn't.
  public var type: String
  /// Its lines, joined by line feeds.
  public var data: String
  /// What to give as `Last-Event-ID` to go on behind it: its own id, or the last before it that had one; empty: there was none.
  public var id: String

  public init(type: String = "message", data: String, id: String = "") {
    self.type = type
    self.data = data
    self.id = id
  }
}

/// Why an event stream can't be read on.
public enum EventStreamError: Error, Equatable, Sendable {
  /// A line, or the data of an event, has more bytes.
  case tooLong(limit: Int)
}

/// Bytes → events, as WHATWG's HTML has it (§9.2.6), however the bytes are cut.
public struct EventStreamReader: Sendable {
  /// What to go on behind; empty: nothing that has an id has come.
  public private(set) var lastEventID = ""
  /// How long the server wants its readers to wait before they come again; nil: it doesn't say.
  public private(set) var retryMilliseconds: Int?

  private let limit: Int
  private var line: [UInt8] = []
  /// The last byte was a carriage return, which a line feed may follow.
  private var isBehindReturn = false
  /// Nothing has come yet but what may be the beginning of a byte order mark.
  private var isAtStart = true
  private var type = ""
  private var data: [UInt8] = []
  private var hasData = false
  /// The id that counts from the end of this event on.
  private var nextID = ""

  /// - Parameter limit: bytes of a line, and of the data of an event.
  public init(limit: Int = 1_048_576) { self.limit = limit }

  /// - Returns: the events that are complete by now. What hasn't come to its empty line when the stream ends never is.
  /// - Throws: what no event has room for; nothing may be read from there on.
  public mutating func read(_ bytes: some Sequence<UInt8>) throws(EventStreamError) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      #if PLANTED_DEFECTS
        let isSecondHalf = isBehindReturn && byte == 10 && !PlantedDefect.isOn(.lineEndsTwice)
      #else
        let isSecondHalf = isBehindReturn && byte == 10
      #endif
      isBehindReturn = byte == 13
      if isSecondHalf { continue }
      guard byte == 10 || byte == 13 else {
        guard line.count < limit else { throw .tooLong(limit: limit) }
        line.append(byte)
        if isAtStart, line.count == 3 {
          if line == [0xEF, 0xBB, 0xBF] { line = [] }
          isAtStart = false
        }
        continue
      }
      isAtStart = false
      if let event = try endLine() { events.append(event) }
    }
    return events
  }

  private mutating func endLine() throws(EventStreamError) -> ServerSentEvent? {
    defer { line.removeAll(keepingCapacity: line.count < 65_536) }
    guard !line.isEmpty else { return endEvent() }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    // A line that begins with a colon is a comment.
    guard colon != 0 else { return nil }
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    let name = line[..<(colon ?? line.count)]
    if name.elementsEqual("data".utf8) {
      let fits = data.count + (hasData ? 1 : 0) + value.count <= limit
      #if PLANTED_DEFECTS
        guard fits || PlantedDefect.isOn(.eventDataUnbounded) else { throw .tooLong(limit: limit) }
      #else
        guard fits else { throw .tooLong(limit: limit) }
      #endif
      if hasData { data.append(10) }
      data += value
      hasData = true
    } else if name.elementsEqual("event".utf8) {
      type = String(decoding: value, as: UTF8.self)
    } else if name.elementsEqual("id".utf8) {
      if !value.contains(0) { nextID = String(decoding: value, as: UTF8.self) }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.eventIDEarly) { lastEventID = nextID }
      #endif
    } else if name.elementsEqual("retry".utf8), value.allSatisfy({ (0x30...0x39).contains($0) }),
      let milliseconds = Int(String(decoding: value, as: UTF8.self))
    {
      retryMilliseconds = milliseconds
    }
    return nil
  }

  private mutating func endEvent() -> ServerSentEvent? {
    defer {
      type = ""
      data.removeAll(keepingCapacity: data.count < 65_536)
      hasData = false
    }
    lastEventID = nextID
    guard hasData else { return nil }
    return ServerSentEvent(
      type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), id: lastEventID)
  }
}
