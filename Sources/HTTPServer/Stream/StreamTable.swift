internal import Model

/// The answers of a server that are produced over time: how many there are, from where, and what they wait for.
struct StreamTable {
  /// Of one address, or all together, there are as many as there may be.
  enum Full { case address, server }

  /// What one connection has of it.
  struct Stream {
    var body: StreamedBody
    let source: any HTTPBodySource
    let client: AddressGroup
  }

  private struct Watched {
    let signal: HTTPBodySignal
    var streams: Set<UInt64> = []
  }

  private(set) var count = 0
  private var perAddress: [AddressGroup: Int] = [:]
  private var watched: [ObjectIdentifier: Watched] = [:]
  /// Those that are to be looked at, by the number of their connection, each once.
  private var ready: [UInt64] = []
  private var isReady: Set<UInt64> = []

  /// Looks at so many streams, then at the sockets: what a thousand have to say must not hold up the others.
  static let perTurn = 64

  var hasReady: Bool { !ready.isEmpty }

  func full(for client: AddressGroup, _ limits: HTTPLimits) -> Full? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.streamsUnbounded) { return nil }
    #endif
    if count >= limits.streams.total { return .server }
    return perAddress[client, default: 0] >= limits.streams.perAddress ? .address : nil
  }

  /// - Parameter box: by which its signal reaches the server.
  mutating func insert(_ stream: Stream, of connection: UInt64, _ box: CommandBox) {
    count += 1
    perAddress[stream.client, default: 0] += 1
    let signal = stream.source.signal
    if watched[ObjectIdentifier(signal)] == nil {
      signal.join(box.descriptor) { box.post(.look($0)) }
    }
    watched[ObjectIdentifier(signal), default: Watched(signal: signal)].streams.insert(connection)
  }

  mutating func remove(_ stream: Stream, of connection: UInt64, _ box: CommandBox) {
    count -= 1
    let before = perAddress[stream.client, default: 1]
    perAddress[stream.client] = before > 1 ? before - 1 : nil
    let signal = stream.source.signal
    watched[ObjectIdentifier(signal)]?.streams.remove(connection)
    guard watched[ObjectIdentifier(signal)]?.streams.isEmpty == true else { return }
    watched[ObjectIdentifier(signal)] = nil
    signal.leave(box.descriptor)
  }

  /// Those that wait for a signal.
  func streams(of signal: HTTPBodySignal) -> Set<UInt64> {
    watched[ObjectIdentifier(signal)]?.streams ?? []
  }

  mutating func note(ready connection: UInt64) {
    if isReady.insert(connection).inserted { ready.append(connection) }
  }

  /// The next that are to be looked at, in the order in which they were noted; some may be gone.
  mutating func takeReady() -> [UInt64] {
    let taken = Array(ready.prefix(Self.perTurn))
    ready.removeFirst(taken.count)
    for connection in taken { isReady.remove(connection) }
    return taken
  }
}
