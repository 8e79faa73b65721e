/// Why something could not be stored or read.
public enum StoreError: Error, Equatable, Sendable {
  // MARK: - At the start

  /// What was configured leads to no database; the text says what to do.
  case cannotOpen(String)
  /// Another server has it; `by`: what is known of that one, or nothing.
  case inUse(String, by: String)
  /// A newer server has written it.
  case newerSchema(found: Int, known: Int)

  // MARK: - Later

  /// There is no more room on the disk. Nothing of the transaction was done.
  case diskFull(String)
  /// The database can't be reached. Nothing was done.
  case unreachable(String)
  /// The connection ended, or no answer came, in the middle: what was under way may have been done or not.
  case connectionLost(String)
  /// Another server has used the database since this one lost its connection: what this one would go on from is no longer what is there.
  /// Nothing was done, and nothing will be.
  case takenOver(String)
  /// Somebody else's transaction stands in the way. Nothing was done.
  case busy(String)
  /// The database doesn't take this one write, whose values are at fault; others of the same transaction are done.
  case refused(String)
  /// What this one write or read has found in the database can't be understood. It is undone alone; others of the same transaction
  /// are done.
  case unreadable(String)
  /// The disk or the database doesn't do what it should; what was under way may have been done or not.
  case failed(String)
  /// More waits to be written than may. Nothing was done.
  case queueFull
  /// The store is closed.
  case closed

  /// Whether it is of one write or read alone, and undoes that and nothing else.
  var isOfOne: Bool {
    switch self {
    case .refused, .unreadable: true
    default: false
    }
  }

  /// Whether nothing will ever be done again.
  var isForGood: Bool { if case .takenOver = self { true } else { false } }

  /// Whether what failed may have been done all the same. Who repeats it has to write it so that twice is as good as once.
  public var mayBeDone: Bool {
    switch self {
    case .connectionLost, .failed: true
    default: false
    }
  }

  /// One word for each kind, as metrics have it.
  public var reason: String {
    switch self {
    case .cannotOpen: "cannotOpen"
    case .inUse, .takenOver: "inUse"
    case .newerSchema: "newerSchema"
    case .diskFull: "diskFull"
    case .unreachable: "unreachable"
    case .connectionLost: "connectionLost"
    case .busy: "busy"
    case .refused: "refused"
    case .unreadable: "unreadable"
    case .failed: "failed"
    case .queueFull: "queueFull"
    case .closed: "closed"
    }
  }

  /// What somebody else has written, as part of one line for the operator: without control characters, and cut.
  static func words(_ text: String) -> String {
    let printable = text.unicodeScalars.prefix(200).map { scalar in
      scalar.properties.generalCategory == .control ? " " : String(scalar)
    }
    return printable.joined().split(separator: " ").joined(separator: " ")
  }

  /// All of them, in this order.
  public static let reasons = [
    "cannotOpen", "inUse", "newerSchema", "diskFull", "unreachable", "connectionLost", "busy", "refused",
    "unreadable", "failed", "queueFull", "closed",
  ]
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cannotOpen(let text): text
    case .inUse(let place, let holder):
      "\(place) is in use by another Roost\(holder.isEmpty ? "" : " (\(holder))"): two servers can't share one; stop the other, "
        + "or give this one its own"
    case .newerSchema(let found, let known):
      "a newer Roost has written this database (schema version \(found); this one knows up to \(known)): start the newer "
        + "version again, or restore a backup from before it"
    case .diskFull(let text): "the disk is full: \(text)"
    case .unreachable(let text): "the database can't be reached: \(text)"
    case .connectionLost(let text): "the connection to the database was lost: \(text)"
    case .takenOver(let place):
      "another Roost has used \(place) since this one lost its connection, so this one stores nothing more: stop one of the two, and if "
        + "it is the other, restart this one"
    case .busy(let text): "the database is busy: \(text)"
    case .refused(let text): "the database refuses this: \(text)"
    case .unreadable(let text): "the database has what can't be read: \(text)"
    case .failed(let text): "the database failed: \(text)"
    case .queueFull: "too much waits to be written"
    case .closed: "the store is closed"
    }
  }
}
