internal import Model

/// Every open connection, by its number and by libmicrohttpd's handle, with its count per address.
struct ConnectionTable {
  private var byID: [UInt64: Connection] = [:]
  private var byHandle: [OpaquePointer: Connection] = [:]
  private var perAddress: [AddressGroup: Int] = [:]

  var isEmpty: Bool { byID.isEmpty }
  var all: Dictionary<UInt64, Connection>.Values { byID.values }

  subscript(id: UInt64) -> Connection? { byID[id] }
  subscript(handle handle: OpaquePointer) -> Connection? { byHandle[handle] }

  func isFull(_ limits: HTTPLimits) -> Bool { byID.count >= limits.connections }

  func hasRoom(for remote: SocketAddress, _ limits: HTTPLimits) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.addressUnbounded) { return byID.count < limits.connections }
    #endif
    return byID.count < limits.connections
      && (perAddress[AddressGroup(remote), default: 0] < limits.connectionsPerAddress
        || limits.proxies.contains { $0.contains(remote) })
  }

  mutating func insert(_ connection: Connection) {
    byID[connection.id] = connection
    perAddress[AddressGroup(connection.remote), default: 0] += 1
  }

  mutating func remove(_ connection: Connection) {
    guard byID.removeValue(forKey: connection.id) != nil else { return }
    unbind(connection)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.addressNotReleased) { return }
    #endif
    let group = AddressGroup(connection.remote)
    let count = perAddress[group, default: 1]
    perAddress[group] = count > 1 ? count - 1 : nil
  }

  mutating func bind(_ connection: Connection, to handle: OpaquePointer) {
    connection.handle = handle
    byHandle[handle] = connection
  }

  mutating func unbind(_ connection: Connection) {
    if let handle = connection.handle { byHandle[handle] = nil }
    connection.handle = nil
  }
}
