public import Calls

/// A request under a key of the client's. What it is answered by is written down with what it does, in one transaction, so that the
/// same request sent again can be answered the same and do nothing, whenever the server ended meanwhile.
///
/// The desk doesn't look whether it was asked before: who asks does, by `answer(to:content:by:)`, and lets no two with the same key
/// come at once.
public struct KeyedRequest<Answer: Sendable>: Sendable {
  /// The client's: 1 to 128 bytes.
  public var key: String
  /// What stands for all of the request, some bytes of it.
  public var content: [UInt8]
  /// Whose the key is.
  public var person: PersonID
  /// What is kept of an answer; nil: nothing is.
  public var body: @Sendable (Answer) -> [UInt8]?

  public init(
    _ key: String, content: [UInt8], by person: PersonID, _ body: @escaping @Sendable (Answer) -> [UInt8]?
  ) {
    self.key = key
    self.content = content
    self.person = person
    self.body = body
  }
}
