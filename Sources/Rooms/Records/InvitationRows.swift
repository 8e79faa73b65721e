internal import Model
internal import Storage

/// Invitations as rows, on the store's thread.
enum InvitationRows {
  static func write(
    _ invitations: RowChanges<InvitationID, Invitation>, to transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO invitations (id, life, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET body = excluded.body
      """,
      each: invitations.present.map { id, row in
        [.text(id.text), .text(row.life.text), .bytes(RecordBytes.bytes(of: row))]
      })
    try transaction.run(
      "DELETE FROM invitations WHERE id = $1", each: invitations.gone.map { [.text($0.text)] })
  }

  static func read(
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(id: String, life: String, body: [UInt8])] {
    var rows: [(id: String, life: String, body: [UInt8])] = []
    for row in try transaction.run("SELECT id, life, body FROM invitations") {
      rows.append((try row.text(0), try row.text(1), try row.bytes(2)))
    }
    return rows
  }
}
