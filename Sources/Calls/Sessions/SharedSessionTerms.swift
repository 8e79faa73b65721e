/// What a shared session goes by; spans are in milliseconds.
public struct SharedSessionTerms: Hashable, Sendable {
  /// How long one is asked to take it over.
  public var offer: Int64 = 5_000
  /// How long it may have no owner.
  public var ownerless: Int64 = 60_000
  /// Events of people that are kept beyond the snapshot, and bytes of those that are kept at all.
  public var events: Int64 = 10_000
  public var eventBytes: Int64 = 16_777_216

  public init() {}
}
