#if PLANTED_DEFECTS
  internal import Model
#endif

/// What tables there are, as a list of steps that each lead from one version to the next; forward alone.
///
/// What rooms, calls and doors keep is theirs to know: here stands only how it lies. A step that was ever part of a release
/// stays as it is, and a change is another step, in a file of its own.
struct Schema: Sendable {
  /// The version that it leads to, counted from 1.
  let version: Int
  /// In SQLite's words; `SQLDialect` has PostgreSQL's.
  let statements: [String]

  /// In the order of their versions.
  static let steps = [
    rooms, deliveries, calls, keys, callKeys, wakes, repeats, people, lookups, erasure, erasures, presence,
    invitations, owner,
  ]

  /// Brings a database to the newest version, step by step, each in a transaction of its own with its number. One that has been used
  /// is copied aside first, where that is the server's to do.
  /// - Returns: the version that it had; 0: it was empty.
  @discardableResult
  static func apply(_ steps: [Schema] = steps, to database: any Database) throws(StoreError) -> Int {
    try database.execute(
      database.dialect.translated("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"))
    let found = Int(
      try database.run("SELECT max(version) FROM schema_version", []).first?.optionalInteger(0) ?? 0)
    let known = steps.last?.version ?? 0
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.newerSchema), found > known { return found }
    #endif
    guard found <= known else { throw .newerSchema(found: found, known: known) }
    // Forward alone: what leads back is a copy.
    if found > 0, found < known { try database.keepCopy(of: found) }
    for step in steps where step.version > found { try step.apply(to: database) }
    return found
  }

  private func apply(to database: any Database) throws(StoreError) {
    try database.begin()
    do throws(StoreError) {
      try database.migrate { () throws(StoreError) in
        for statement in statements { try database.execute(database.dialect.translated(statement)) }
        _ = try database.run("INSERT INTO schema_version (version) VALUES ($1)", [.integer(version)])
        try database.commit()
      }
    } catch {
      database.rollBack()
      throw error
    }
  }
}
