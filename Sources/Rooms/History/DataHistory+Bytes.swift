internal import Model

extension DataHistoryTerms {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(topics.count))
    for topic in topics.sorted(by: { $0.isBefore($1) }) { writer.write(topic) }
    writer.write(UInt32(max))
    writer.write(UInt32(seconds))
  }

  /// Also of a journal's row, in which others may have written: what is beyond its bounds is none.
  init(from reader: inout StateReader) throws(StateError) {
    let start = reader.offset
    var topics: Set<String> = []
    for _ in 0..<(try reader.count(limit: Self.mostTopics)) { topics.insert(try reader.string(limit: 128)) }
    let max = Int(try reader.integer(UInt32.self))
    let seconds = Int(try reader.integer(UInt32.self))
    guard (1...Self.mostMessages).contains(max), (1...Self.mostSeconds).contains(seconds) else {
      throw .invalid(field: "data history", offset: start)
    }
    self.init(topics: topics, max: max, seconds: seconds)
  }
}

extension DataHistory {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(1))
    writer.write(UInt32(entries.count))
    for entry in entries {
      writer.write(optional: entry.message.from?.text)
      writer.write(optional: entry.message.identity)
      writer.write(optional: entry.message.name)
      writer.write(entry.message.topic)
      writer.write(entry.message.payload)
      writer.write(entry.message.time.milliseconds)
      writer.write(optional: entry.sender)
      writer.write(entry.at)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("data history", upTo: 1)
    var entries: [Entry] = []
    for _ in 0..<(try reader.count(limit: DataHistoryTerms.mostMessages)) {
      let message = KeptMessage(
        from: try reader.optionalString(limit: stateTextLimit).map { ParticipantID(known: $0) },
        identity: try reader.optionalString(limit: stateTextLimit),
        name: try reader.optionalString(limit: stateTextLimit),
        topic: try reader.string(limit: stateTextLimit), payload: try reader.array(limit: stateTextLimit),
        time: WallTime(milliseconds: try reader.integer()))
      entries.append(
        Entry(
          message: message, sender: try reader.optionalString(limit: stateTextLimit),
          at: try reader.instant()))
    }
    self.init(entries)
  }
}
