internal import AccessTokens
package import Model

/// Invitations, and what a room keeps of messages, as the rows of a journal have them.
extension RecordBytes {
  private static let longest = 1_024

  static func bytes(of invitation: Invitation) -> [UInt8] {
    var writer = StateWriter()
    writer.write(UInt8(1))
    writer.write(invitation.room)
    writer.write(invitation.terms.code)
    invitation.terms.grants.encode(into: &writer)
    writer.write(invitation.terms.isAdmitted)
    writer.write(Int64(invitation.terms.uses))
    writer.write(invitation.terms.apiKey)
    writer.write(optional: invitation.terms.inviter)
    writer.write(optional: invitation.terms.inviterIssued.map { Int64($0) })
    writer.write(Int64(invitation.created))
    writer.write(Int64(invitation.expires))
    writer.write(Int64(invitation.opened))
    return writer.bytes
  }

  static func invitation(_ bytes: [UInt8], id: String, life: RoomID) throws(StateError) -> Invitation {
    var reader = StateReader(bytes)
    _ = try reader.version("invitation", upTo: 1)
    let room = try reader.string(limit: longest)
    let code = try reader.array(limit: 32)
    let grants = try Grants(from: &reader)
    let terms = Invitation.Terms(
      code: code, grants: grants, isAdmitted: try reader.bool(), uses: Int(try reader.integer(Int64.self)),
      apiKey: try reader.string(limit: longest), inviter: try reader.optionalString(limit: longest),
      inviterIssued: try reader.optionalInteger(Int64.self).map { Int($0) })
    var invitation = Invitation(
      id: InvitationID(known: id), room: room, life: life, terms: terms,
      created: Int(try reader.integer(Int64.self)), expires: Int(try reader.integer(Int64.self)))
    let start = reader.offset
    invitation.opened = Int(try reader.integer(Int64.self))
    // One more is added to it with each opening; times are made into milliseconds.
    guard (0...Invitation.mostUses).contains(invitation.opened), (0..<1 << 50).contains(invitation.expires),
      (0..<1 << 50).contains(invitation.created)
    else { throw .invalid(field: "invitation", offset: start) }
    try reader.finish()
    return invitation
  }

  static func bytes(of terms: DataHistoryTerms) -> [UInt8] {
    var writer = StateWriter()
    writer.write(UInt8(1))
    terms.encode(into: &writer)
    return writer.bytes
  }

  static func dataHistory(_ bytes: [UInt8]) throws(StateError) -> DataHistoryTerms {
    var reader = StateReader(bytes)
    _ = try reader.version("data history", upTo: 1)
    let terms = try DataHistoryTerms(from: &reader)
    try reader.finish()
    return terms
  }
}

extension Invitation {
  /// A journal's row as this build writes it, for those who test readers.
  package static func rewritten(_ bytes: [UInt8]) throws(StateError) -> [UInt8] {
    RecordBytes.bytes(
      of: try RecordBytes.invitation(bytes, id: "IV_x", life: RoomID(naming: "RM_x")))
  }
}
