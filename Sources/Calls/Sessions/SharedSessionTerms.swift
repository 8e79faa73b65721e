/// Spans of shared sessions, in milliseconds.
public struct SharedSessionTerms: Hashable, Sendable {
  /// How long one is asked to take it over.
  public var offer: Int64 = 5_000
  /// How long it may have no owner.
  public var ownerless: Int64 = 60_000

  public init() {}
}
