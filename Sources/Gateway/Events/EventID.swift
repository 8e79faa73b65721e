/// An event of one room, as streams name it: the room's id and the event's number, so that a reader which comes again is known to
/// mean this room and not an earlier one of its name.
package struct EventID: Equatable, Sendable {
  package var roomId: String
  package var number: Int

  package init(roomId: String, number: Int) {
    self.roomId = roomId
    self.number = number
  }

  /// `RM_k3XbQ9uTzLw2:17`
  package var text: String { "\(roomId):\(number)" }

  /// - Returns: nil for what no stream of a room has said.
  package init?(_ text: String) {
    // Longer than any id and any number.
    guard text.utf8.count <= 64, let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let number = text.utf8[text.utf8.index(after: colon)...]
    let room = text.utf8[..<colon]
    guard (1...18).contains(number.count), number.allSatisfy({ (48...57).contains($0) }),
      let value = Int(Substring(number)), room.count > 3, room.starts(with: "RM_".utf8),
      room.dropFirst(3).allSatisfy({
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
      })
    else { return nil }
    self.init(roomId: String(Substring(room)), number: value)
  }
}
