/// What a participant gets, and why.
extension ServerMessage {
  public struct Explanation: Message {
    public static let type = "explain"
    public static let definition = "Explanation"
    public static let summary = "What comes of each track that one wants and may have, and why."

    /// Of the client's own transport; nil: nothing was agreed on yet, or the server can't say at the moment.
    public var transport: TransportReport?
    public var subscriptions: [ExplainedStream] = []

    public init() {}
    public init(transport: TransportReport?, subscriptions: [ExplainedStream]) {
      (self.transport, self.subscriptions) = (transport, subscriptions)
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.record("transport", &transport)
      try coder.records("subscriptions", &subscriptions, .sections)
    }
  }
}
