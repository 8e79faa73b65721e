internal import CSystem
internal import Crypto
internal import Glibc
internal import Model
internal import Peer
internal import Polling
internal import Synchronization
internal import Transport

/// One worker's thread: pinned to a processor, it reads its sockets and does nothing but turn the loop
/// receive → process → send, for its own station and, where those wait, for others.
final class WorkerThread: Sendable {
  /// What the thread needs to begin.
  struct Start: Sendable {
    var index: Int
    var bridge: Bridge
    var limits: WorkerCore.Limits
    var clock: Clock
    var dtls: DTLSContext
    var random: RandomSource
    var publisherMaxBitrate: UInt64
    var processor: Int?
    /// How long it may wait for the rest of a video frame; zero: not at all.
    var gathersFor: Duration
  }

  private static let batch = 64
  /// Datagrams of one turn beyond which other workers had better work beside it.
  private static let few = 8
  /// Of niceness; ten give a worker nine tenths of a processor that it shares with one other thread.
  private static let stepsAhead: Int32 = 10
  private static let socketID: UInt64 = 0
  private static let wakeupID: UInt64 = 1

  private let start: Start
  private let sockets: WorkerSockets
  private let stations: [WorkerStation]
  private let wakeup: Wakeup
  private let poller: Poller
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<pthread_t?>(nil)

  /// - Parameter stations: of all workers, by their numbers.
  init(
    _ start: Start, sockets: WorkerSockets, stations: [WorkerStation], wakeup: Wakeup
  ) throws(SocketError) {
    self.start = start
    self.sockets = sockets
    self.stations = stations
    self.wakeup = wakeup
    guard let poller = Poller(capacity: sockets.descriptors.count + 1) else {
      throw SocketError("epoll_create1")
    }
    self.poller = poller
    guard self.poller.add(wakeup.descriptor, id: Self.wakeupID, .readable) else {
      throw SocketError("epoll_ctl")
    }
    for descriptor in sockets.descriptors {
      guard self.poller.add(descriptor, id: Self.socketID, .readable) else { throw SocketError("epoll_ctl") }
    }
  }

  func run() throws(SocketError) {
    var handle = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&handle, nil, workerMain, context)
    guard code == 0 else {
      Unmanaged<WorkerThread>.fromOpaque(context).release()
      throw SocketError("pthread_create", code: code)
    }
    let started = handle
    thread.withLock { $0 = started }
  }

  /// Ends the loop and waits for it.
  func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    if let handle = thread.withLock({ $0.take() }) { pthread_join(handle, nil) }
  }

  fileprivate func loop() {
    rs_setname(pthread_self(), "roost-worker-\(start.index)")
    if let processor = start.processor { pin(to: processor) }
    let station = stations[start.index]
    station.open(niceness: goFirst())
    defer { station.close() }
    var batch = ReceiveBatch(capacity: Self.batch)
    var isOpen = false
    while !stopping.load(ordering: .relaxed) {
      let deadline = station.beginWait()
      // The sockets are read in any case then: there is no need to ask whether there is something.
      let hasDatagrams = isOpen ? gather(until: deadline) : wait(until: deadline)
      let turn = station.turn { core, send in
        guard hasDatagrams else { return false }
        var count = 0
        for socket in sockets.all { count &+= receive(&batch, from: socket, into: &core, send) }
        return count > Self.few
      }
      isOpen = turn.isOpen && !turn.isBusy && start.gathersFor > .zero
      for worker in SetBits(turn.touched) { stations[worker].call(stations, standsIn: !turn.isBusy) }
    }
  }

  /// Gives the rest of a video frame a short time to come, unless another thread leaves something or `deadline` comes before.
  private func gather(until deadline: Instant?) -> Bool {
    guard let deadline else { return true }
    wakeup.wait(
      atMost: deadline == .never ? start.gathersFor : min(start.gathersFor, deadline - start.clock.now))
    return true
  }

  /// Waits until a datagram is there, another thread left something, or `deadline` has come; not at all without one.
  /// - Returns: whether a datagram is there.
  private func wait(until deadline: Instant?) -> Bool {
    // Only a deadline that may come is worth a look at the clock.
    let now = deadline == .never || deadline == nil ? Instant(nanoseconds: 0) : start.clock.now
    var hasDatagrams = false
    for index in 0..<poller.wait(until: deadline ?? .never, now: now, atMost: deadline == nil ? .zero : nil) {
      if poller[index].id == Self.wakeupID { wakeup.clear() } else { hasDatagrams = true }
    }
    return hasDatagrams
  }

  /// Takes what waits, at most a few batches before timers and messages get their turn.
  /// - Returns: how many datagrams.
  private func receive(
    _ batch: inout ReceiveBatch, from socket: UDPSocketBox, into core: inout WorkerCore,
    _ send: (inout Outbox) -> Void
  ) -> Int {
    var all = 0
    for _ in 0..<4 {
      let count = batch.receive(socket.value.descriptor)
      let sample = start.clock.sample()
      for index in 0..<count {
        if let datagram = batch.datagram(index, port: socket.value.port, clock: sample) {
          if index == 0 { core.times.reading.note(sample.instant - datagram.arrival) }
          core.receive(datagram.bytes, path: datagram.path, arrival: datagram.arrival, now: sample.instant)
        } else {
          core.noteUnreadable()
        }
      }
      all &+= count
      core.endTurn(now: sample.instant, send)
      guard batch.isFull else { break }
      // There is more to come: the others begin with what they have.
      core.wakeOthers()
    }
    return all
  }

  /// Media goes before all else that wants the processor: a packet is late after milliseconds, a join after a second.
  /// While a crowd joins, the handshakes of their signalling would otherwise hold a worker up for tens of milliseconds.
  /// - Returns: the thread's niceness, the process's own where the kernel refuses a lower one.
  private func goFirst() -> Int {
    let usual = rs_getniceness(0, 0)
    // Relative, so that a server that was started with `nice` stays behind what it was to stay behind.
    _ = rs_setniceness(0, 0, max(usual - Self.stepsAhead, -20))
    return Int(rs_getniceness(0, 0))
  }

  private func pin(to processor: Int) {
    var set = [UInt8](repeating: 0, count: 128)
    guard processor < set.count * 8 else { return }
    set[processor / 8] = 1 << UInt8(processor % 8)
    // Refused in a cpuset that lacks the processor: then the scheduler decides, as for any thread.
    _ = rs_setaffinity(pthread_self(), set.count, set)
  }
}

/// Apart from any actor: C calls it on the new thread.
private func workerMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<WorkerThread>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}
