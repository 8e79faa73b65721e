internal import AccessTokens
internal import Model

extension WaitingSession {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt8(2))
    writer.write(id.text)
    writer.write(since.milliseconds)
    writer.write(until.milliseconds)
    writer.write(deadline)
    newcomer.encode(into: &writer)
  }

  init(from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("waiting", upTo: 2)
    id = WaitingID(known: try reader.string(limit: stateTextLimit))
    since = WallTime(milliseconds: try reader.integer())
    until = WallTime(milliseconds: try reader.integer())
    deadline = try reader.instant()
    newcomer = try Newcomer(from: &reader, version: version)
  }
}

extension Newcomer {
  /// As one that waits: how long it may is said by its moment, and by which stay it was there before holds no longer.
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(identity)
    writer.write(optional: name)
    writer.write(optional: metadata)
    writer.write(UInt32(attributes.count))
    for (key, value) in attributes.sorted(by: { $0.key.isBefore($1.key) }) {
      writer.write(key)
      writer.write(value)
    }
    grants.encode(into: &writer)
    writer.write(optional: issued.map { Int64($0) })
    writer.write(optional: opens?.rawValue)
    writer.write(isAttended)
    writer.write(optional: stay)
    writer.write(optional: invitation?.text)
  }

  fileprivate init(from reader: inout StateReader, version: UInt8) throws(StateError) {
    let identity = try reader.string(limit: stateTextLimit)
    let name = try reader.optionalString(limit: stateTextLimit)
    let metadata = try reader.optionalString(limit: stateTextLimit)
    var attributes: [String: String] = [:]
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      attributes[try reader.string(limit: stateTextLimit)] = try reader.string(limit: stateTextLimit)
    }
    self.init(
      identity: identity, name: name, metadata: metadata, attributes: attributes,
      grants: try Grants(from: &reader))
    issued = try reader.optionalInteger(Int64.self).map { Int($0) }
    opens = try reader.bool() ? try reader.value("transport role") : nil
    isAttended = try reader.bool()
    stay = try reader.optionalString(limit: stateTextLimit)
    guard version >= 2 else { return }
    invitation = try reader.optionalString(limit: stateTextLimit).map { InvitationID(known: $0) }
  }
}

extension WaitingPaces {
  func encode(into writer: inout StateWriter) {
    writer.write(all.full)
    writer.write(optional: groups.swept)
    writer.write(UInt32(groups.spent.count))
    for (invitation, group) in groups.spent.sorted(by: { $0.key.isBefore($1.key) }) {
      writer.write(invitation)
      writer.write(group.pace.full)
    }
  }

  /// What comes behind the pace of all.
  static func groups(from reader: inout StateReader) throws(StateError) -> AllowanceTable<String, Group> {
    var groups = AllowanceTable<String, Group>(capacity: groupLimit)
    groups.swept = try reader.optionalInstant()
    for _ in 0..<(try reader.count(limit: groupLimit)) {
      let invitation = try reader.string(limit: stateTextLimit)
      var group = Group()
      group.pace.full = try reader.instant()
      groups.spent[invitation] = group
    }
    return groups
  }
}
