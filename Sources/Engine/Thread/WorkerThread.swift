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
///
/// The first thread watches the sockets of all, and is the first to be woken: as long as one thread is enough, one does the work,
/// and is woken once for what came to several. While it is busy, each of the others is woken for its own.
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
  private static let batches = 4
  /// Datagrams of one turn from each socket.
  private static let most = batch * batches
  /// Datagrams of one turn beyond which other workers had better work beside it.
  private static let few = 8
  /// Of niceness; ten give a worker nine tenths of a processor that it shares with one other thread.
  private static let stepsAhead: Int32 = 10
  private static let wakeupID = UInt64.max

  private let start: Start
  /// Of all workers, by their numbers.
  private let sockets: [WorkerSockets]
  private let stations: [WorkerStation]
  private let wakeup: Wakeup
  private let poller: Poller
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<pthread_t?>(nil)

  /// Threads are made in the order of their numbers.
  /// - Parameters:
  ///   - sockets: of all workers, by their numbers; the stations likewise.
  init(
    _ start: Start, sockets: [WorkerSockets], stations: [WorkerStation], wakeup: Wakeup
  ) throws(SocketError) {
    self.start = start
    self.sockets = sockets
    self.stations = stations
    self.wakeup = wakeup
    let watched = start.index == 0 ? Array(sockets.indices) : [start.index]
    guard let poller = Poller(capacity: watched.reduce(1) { $0 + sockets[$1].descriptors.count }) else {
      throw SocketError("epoll_create1")
    }
    self.poller = poller
    guard self.poller.add(wakeup.descriptor, id: Self.wakeupID, .readable) else {
      throw SocketError("epoll_ctl")
    }
    for worker in watched {
      // What is left unread of another's socket is for that one to find.
      let interest: Poller.Interest =
        worker == start.index ? [.readable, .exclusive] : [.readable, .exclusive, .onceEach]
      for descriptor in sockets[worker].descriptors {
        guard self.poller.add(descriptor, id: UInt64(worker), interest) else {
          throw SocketError("epoll_ctl")
        }
      }
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
    var last = WorkerStation.Turn()
    while !stopping.load(ordering: .relaxed) {
      let found = wait(until: station.beginWait(), after: last)
      last = station.turn { core, send in
        found.isHere ? receive(&batch, of: start.index, into: &core, send) : 0
      }
      for worker in SetBits(last.touched) {
        stations[worker].call(stations, standsIn: last.datagrams <= Self.few)
      }
      for worker in SetBits(found.others) { standIn(for: worker, &batch) }
    }
  }

  /// What a wait has found.
  private struct Found {
    /// There may be datagrams for this worker.
    var isHere = true
    /// Workers for which there are some, as bits.
    var others: UInt64 = 0
  }

  /// Waits until a datagram is there, another thread left something, or `deadline` has come; not at all without one, or where
  /// more is left than one turn takes.
  private func wait(until deadline: Instant?, after last: WorkerStation.Turn) -> Found {
    guard let deadline, last.datagrams < Self.most else { return Found() }
    if last.isOpen, last.datagrams <= Self.few, start.gathersFor > .zero {
      // The rest of a video frame gets a short time to come. The sockets are read in any case then.
      wakeup.wait(
        atMost: deadline == .never ? start.gathersFor : min(start.gathersFor, deadline - start.clock.now))
      return Found()
    }
    // Only a deadline that may come is worth a look at the clock.
    let now = deadline == .never ? Instant(nanoseconds: 0) : start.clock.now
    var found = Found(isHere: false)
    for index in 0..<poller.wait(until: deadline, now: now) {
      switch poller[index].id {
      case Self.wakeupID:
        // Another thread may have been woken for a datagram of this worker's and have left it here.
        wakeup.clear()
        found.isHere = true
      case UInt64(start.index): found.isHere = true
      case let worker: found.others |= 1 << worker
      }
    }
    return found
  }

  /// Takes what has come for another worker, whose thread was not woken for it; where that one has begun, or more has come than one
  /// turn takes, it is woken.
  private func standIn(for worker: Int, _ batch: inout ReceiveBatch) {
    var count = Self.most
    let hasStoodIn = stations[worker].standIn(stations) { core, send in
      count = receive(&batch, of: worker, into: &core, send)
    }
    if !hasStoodIn || count >= Self.most { stations[worker].wake() }
  }

  /// Takes what waits in a worker's sockets.
  /// - Returns: how many datagrams.
  private func receive(
    _ batch: inout ReceiveBatch, of worker: Int, into core: inout WorkerCore, _ send: (inout Outbox) -> Void
  ) -> Int {
    var count = 0
    for socket in sockets[worker].all { count &+= receive(&batch, from: socket, into: &core, send) }
    return count
  }

  /// At most a few batches before timers and messages get their turn.
  private func receive(
    _ batch: inout ReceiveBatch, from socket: UDPSocketBox, into core: inout WorkerCore,
    _ send: (inout Outbox) -> Void
  ) -> Int {
    var all = 0
    for _ in 0..<Self.batches {
      let count = batch.receive(socket.value.descriptor)
      let sample = start.clock.sample()
      for index in 0..<count {
        if let datagram = batch.datagram(index, port: socket.value.port, clock: sample) {
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
