/// Which rooms are listed, and in which order.
public struct RoomListing: Hashable, Sendable {
  public enum Order: String, CaseIterable, Sendable {
    /// By the bytes of their names.
    case name
    /// Those first that were made first.
    case created
    case participants
    /// Bits per second.
    case received, sent
  }

  /// Part of their names, in whatever case; empty: all.
  public var search = ""
  public var order = Order.name
  public var isDescending = false

  public init() {}
}

/// Which participants of a room are listed, and in which order.
public struct PeopleListing: Hashable, Sendable {
  public enum Order: String, CaseIterable, Sendable {
    /// By the bytes of their identities.
    case identity
    /// Those first that joined first.
    case joined
    /// Bits per second.
    case received, sent
    case loss
    case roundTrip
  }

  /// Part of their identities or names, in whatever case; empty: all.
  public var search = ""
  public var order = Order.identity
  public var isDescending = false

  public init() {}
}

/// What is looked for in names.
struct NameSearch {
  private let wanted: [UInt8]

  init(_ text: String) { wanted = Array(text.lowercased().utf8) }

  func finds(_ name: String) -> Bool {
    guard let first = wanted.first else { return true }
    let bytes = Array(name.lowercased().utf8)
    guard bytes.count >= wanted.count else { return false }
    return (0...bytes.count - wanted.count).contains { start in
      bytes[start] == first && bytes[start..<start + wanted.count].elementsEqual(wanted)
    }
  }
}
