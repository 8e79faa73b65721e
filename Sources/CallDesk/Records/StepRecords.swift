internal import Calls
internal import Storage

/// Steps of calls that aren't said yet.
enum StepRecords {
  private static func key(_ step: Aftermath.Step) -> [SQLValue] {
    [.text(step.call.id.text), .text(step.kind.rawValue), .text(step.session?.id.text ?? "")]
  }

  static func keep(
    _ step: Aftermath.Step, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO call_steps (call, kind, session, time) VALUES ($1, $2, $3, $4) ON CONFLICT (call, kind, session) DO NOTHING
      """, key(step) + [.integer(now.wall)])
  }

  /// Whether a step was written down at that moment, and isn't said yet.
  /// - Parameter moment: milliseconds since 1970.
  static func has(
    _ step: Aftermath.Step, of moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let rows = try transaction.run(
      "SELECT time FROM call_steps WHERE call = $1 AND kind = $2 AND session = $3 AND time = $4",
      key(step) + [.integer(moment)])
    return !rows.isEmpty
  }

  static func forget(_ step: Aftermath.Step, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM call_steps WHERE call = $1 AND kind = $2 AND session = $3", key(step))
  }

  /// In the order in which they were written; but for those of calls and sessions that are gone, or can't be understood, which go with
  /// the call.
  static func all(
    terms: CallTerms, sessions: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Aftermath.Step] {
    var steps: [Aftermath.Step] = []
    for row in try transaction.run("SELECT call, kind, session FROM call_steps ORDER BY time, kind DESC") {
      guard let id = CallUUID(try row.text(0)), let kind = Aftermath.Step.Kind(rawValue: try row.text(1)),
        let call = try CallRecords.readable(id, terms: terms, transaction)
      else { continue }
      var step = Aftermath.Step(kind: kind, call: call.state, room: call.room)
      if let session = CallUUID(try row.text(2)) {
        guard let found = try SessionRecords.readable(session, terms: sessions, transaction) else { continue }
        step.session = Aftermath.Step.Session(id: session, experience: found.state.experience)
      }
      steps.append(step)
    }
    return steps
  }
}
