import Model

/// What begins and ends the count of what happens between.
public struct CostMeter {
  public var begin: () -> Void
  public var end: () -> Void

  public init(begin: @escaping () -> Void = {}, end: @escaping () -> Void = {}) {
    (self.begin, self.end) = (begin, end)
  }
}

/// What is known of one input without a counter.
public struct CostReading: Sendable {
  /// Bytes that its sender is charged.
  public var charged: Int
  /// Bytes said to its sender.
  public var answered = 0
  /// Bytes said to everybody else.
  public var spread = 0
}

/// Ways in, each of which charges for bytes.
public enum CostGroup: String, CaseIterable, Sendable {
  /// Messages of signalling, through the session, the room and the others in it.
  case message
  /// HTTP requests, from the parsed request to the answer.
  case request
  /// HTTP requests about calls, from the parsed request to the answer, with what the store does for them.
  case call
  /// RTCP, from the sealed datagram to what is sent again because of it.
  case report
  /// RTP, from the sealed datagram to where it would be forwarded.
  case packet

  /// What is searched, counted and bounded by itself.
  public var kinds: [String] {
    switch self {
    case .message: MessageCosts.kinds
    case .request: RequestCosts.kinds
    case .call: CallCosts.kinds
    case .report: ReportCosts.kinds
    case .packet: PacketCosts.kinds
    }
  }

  /// How many others are in the room, where that makes a difference, or in the call.
  public var crowds: [Int] {
    switch self {
    case .message: [0, 60]
    case .call: [31]
    case .request, .report, .packet: [60]
    }
  }
}

/// Runs inputs as the server would; belongs to one thread.
public final class CostBench {
  private var messages: [Int: MessageCosts] = [:]
  private var requests: RequestCosts?
  private let calls = CallCosts()
  private var reports: ReportCosts?
  private var packets: ReportCosts?

  public init() {}

  /// - Parameter others: in the room.
  /// - Returns: nil: the input is none of that kind, and nothing was counted.
  public func run(
    _ group: CostGroup, kind: String, others: Int, _ input: [UInt8], _ meter: CostMeter
  ) -> CostReading? {
    switch group {
    case .message:
      guard MessageCosts.isKind(kind, input) else { return nil }
      let costs = messages[others] ?? MessageCosts(others: others)
      messages[others] = costs
      return costs.run(kind, input, meter)
    case .request:
      guard let request = RequestCosts.request(input), RequestCosts.kind(of: request) == kind else {
        return nil
      }
      let costs = requests ?? RequestCosts(others: others)
      requests = costs
      return costs.run(request, size: input.count, meter)
    case .call:
      guard let request = RequestCosts.request(input), CallCosts.kind(of: request) == kind else { return nil }
      return calls.run(request, kind: kind, meter)
    case .report:
      guard ReportCosts.kind(of: input) == kind else { return nil }
      let costs = reports ?? ReportCosts()
      reports = costs
      return costs?.run(input, meter)
    case .packet:
      guard PacketCosts.kind(of: input) == kind else { return nil }
      let costs = packets ?? ReportCosts(isWide: true)
      packets = costs
      return costs?.run(packet: input, meter)
    }
  }
}
