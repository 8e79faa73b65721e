internal import Glibc
internal import Model
internal import Polling

/// How connections come: accepted while there is room for them, and handed to libmicrohttpd.
extension ServerLoop {
  func acceptAll(on id: UInt64) {
    arrivals.requireSpare()
    for _ in 0..<64 {
      guard let listener = arrivals.listeners[id] else { return }
      guard let (descriptor, remote) = Listening.accept(listener.descriptor) else {
        if errno == EMFILE || errno == ENFILE { turnAway(listener.descriptor) }
        if errno == ECONNABORTED || errno == EINTR { continue }
        return
      }
      guard connections.hasRoom(for: remote, limits), tunnels.count < limits.connections else {
        let isFull = connections.isFull(limits) || tunnels.count >= limits.connections
        if isFull { counters.refusedFull &+= 1 } else { counters.refusedPerAddress &+= 1 }
        close(descriptor)
        continue
      }
      guard mayShakeHands(remote) else {
        counters.refusedHandshakes &+= 1
        close(descriptor)
        continue
      }
      let id = arrivals.takeID()
      guard let descriptor = served(descriptor, connection: id) else { continue }
      let connection = Connection(id: id, listener: listener.index, remote: remote, descriptor: descriptor)
      connections.insert(connection)
      arrivals.arriving = connection
      let taken = daemon?.add(descriptor, from: remote) == true
      arrivals.arriving = nil
      guard !taken else {
        counters.accepted &+= 1
        continue
      }
      if connection.phase == .lingering { forget(connection) } else { connections.remove(connection) }
    }
  }

  private func mayShakeHands(_ remote: SocketAddress) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.handshakesUnrationed) { return true }
    #endif
    guard tls != nil, !limits.proxies.contains(where: { $0.contains(remote) }) else { return true }
    return handshakes.take(AddressGroup(remote), now: Clocks.now()) == nil
  }

  /// - Returns: the descriptor on which the connection is plain HTTP; nil: there is none, and all is closed.
  private func served(_ descriptor: Int32, connection: UInt64) -> Int32? {
    guard let tls else { return descriptor }
    guard
      let (tunnel, farEnd) = TLSTunnel.make(
        client: descriptor, clientID: arrivals.takeID(), innerID: arrivals.takeID(), connection: connection,
        context: tls, closeTime: limits.closeTime)
    else {
      counters.refusedWithoutDescriptor &+= 1
      return nil
    }
    tunnels.insert(tunnel)
    settle(tunnel)
    return farEnd
  }

  /// With no descriptor left a waiting client would wake the loop for ever: it is taken and let go.
  private func turnAway(_ listener: Int32) {
    guard arrivals.giveUpSpare() else { return }
    counters.refusedWithoutDescriptor &+= 1
    let client = Glibc.accept(listener, nil, nil)
    if client >= 0 { close(client) }
    arrivals.takeSpare()
  }

  /// libmicrohttpd has taken the arriving connection.
  func started(_ handle: OpaquePointer) {
    guard let connection = arrivals.arriving else { return }
    connections.bind(connection, to: handle)
    watch(connection, [.farEndGone, .onceEach])
    schedule(connection, Clocks.now() + limits.headTime)
  }
}

/// What the loop accepts connections with.
struct Arrivals: ~Copyable {
  var listeners: [UInt64: (index: Int, descriptor: Int32)] = [:]
  /// The connection that libmicrohttpd is being given.
  var arriving: Connection?
  /// The descriptor that is given up for a moment when there are no more.
  private var spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
  private var nextID: UInt64 = 1

  deinit { if spare >= 0 { close(spare) } }

  mutating func takeID() -> UInt64 {
    defer { nextID &+= 1 }
    return nextID
  }

  /// - Returns: false: there is none either.
  mutating func giveUpSpare() -> Bool {
    guard spare >= 0 else { return false }
    close(spare)
    spare = -1
    return true
  }

  /// Another thread may have had the last descriptor when it was to be taken back.
  mutating func requireSpare() { if spare < 0 { takeSpare() } }

  mutating func takeSpare() { spare = open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
