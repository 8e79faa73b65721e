import HTTPClient

/// An event stream: cut in one place or in many, it has the same events; each keeps the bound, and is read again from what it says.
func fuzzEventStream(_ input: UnsafeRawBufferPointer) {
  guard let size = input.first else { return }
  let bytes = input.dropFirst()
  let limit = 256
  let whole = EventsRead(limit, [bytes])
  let step = Int(size) % 7 + 1
  let cut = EventsRead(
    limit,
    stride(from: bytes.startIndex, to: bytes.endIndex, by: step).map {
      bytes[$0..<min($0 + step, bytes.endIndex)]
    })
  check(cut.events.starts(with: whole.events), "cuts take no event away")
  check(whole.failed == cut.failed && (whole.failed || cut.events == whole.events), "cuts change nothing")
  check(
    cut.failed || cut.lastID == whole.lastID && cut.retry == whole.retry,
    "nor what is known beside the events")
  check(whole.retry.map { $0 >= 0 } ?? true, "no time to wait is less than none")
  for event in cut.events {
    // What is no UTF-8 is three bytes for one.
    check(event.data.utf8.count <= 3 * limit && event.id.utf8.count <= 3 * limit, "an event has a bound")
    check(!event.type.isEmpty, "an event has a type")
    for text in [event.type, event.id] {
      check(!text.utf8.contains { $0 == 10 || $0 == 13 }, "a field is a line")
    }
    check(!event.data.utf8.contains(13) && !event.id.utf8.contains(0), "data has line feeds alone")
  }
  let again = EventsRead(4 * 3 * limit, [Array(cut.events.map(written).joined().utf8)[...]])
  check(again.events == cut.events, "what is written is read")
}

private struct EventsRead {
  private(set) var events: [ServerSentEvent] = []
  private(set) var failed = false
  private(set) var lastID = ""
  private(set) var retry: Int?

  init(_ limit: Int, _ pieces: [some Sequence<UInt8>]) {
    var reader = EventStreamReader(limit: limit)
    do throws(EventStreamError) {
      for piece in pieces { events += try reader.read(piece) }
    } catch {
      failed = true
    }
    (lastID, retry) = (reader.lastEventID, reader.retryMilliseconds)
  }
}

private func written(_ event: ServerSentEvent) -> String {
  let data = event.data.split(separator: "\n", omittingEmptySubsequences: false)
  return "event: \(event.type)\nid: \(event.id)\n" + data.map { "data: \($0)\n" }.joined() + "\n"
}
