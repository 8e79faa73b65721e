internal import Model
internal import Peer
internal import Polling
internal import Synchronization
internal import Transport

/// A worker's core with its way to the network, for one thread at a time: the worker's own, or, while that one waits, the thread
/// of another worker that has left something here.
///
/// To wake a thread costs more than to send a packet to a few subscribers. So a worker with little to do stands in for one that
/// waits: on its own thread it has the other's core take what is there, and sends it. Under load no thread waits, and each does
/// its own work.
final class WorkerStation: Sendable {
  /// Datagrams that wait to be sent: more than a batch makes for a room of usual size.
  private static let outboxSize = 1_024
  /// How often one that stands in looks again, where more has come meanwhile; then the own thread is woken.
  private static let rounds = 4

  private struct Place: ~Copyable {
    var core: WorkerCore
    let sender: UnsafeMutablePointer<SendBatch>
    /// The own thread waits, or is about to: until then, unless it is woken.
    var waitsUntil: Instant?
    /// The own thread runs.
    var isOpen = false

    deinit {
      sender.deinitialize(count: 1)
      sender.deallocate()
    }
  }

  /// What a turn of the own thread has found.
  struct Turn {
    /// The workers that have something to take, as bits.
    var touched: UInt64 = 0
    /// So much came that others had better work beside it.
    var isBusy = false
    /// The rest of a video frame is to be expected.
    var isOpen = false
  }

  private let index: Int
  private let clock: Clock
  private let mailbox: Mailbox<WorkerMessage>
  private let wakeup: Wakeup
  private let place: Mutex<Place>

  init(_ start: WorkerThread.Start, sockets: WorkerSockets, wakeup: Wakeup) {
    index = start.index
    clock = start.clock
    mailbox = start.bridge.exchange.mailboxes[start.index]
    self.wakeup = wakeup
    let sender = UnsafeMutablePointer<SendBatch>.allocate(capacity: 1)
    sender.initialize(to: SendBatch(datagrams: Self.outboxSize, sockets: sockets))
    let core = WorkerCore(
      index: start.index, bridge: start.bridge, limits: start.limits,
      context: PeerContext(
        epoch: start.clock.epoch, dtls: start.dtls, random: start.random,
        publisherMaxBitrate: start.publisherMaxBitrate,
        outbox: Outbox(datagrams: Self.outboxSize, whenFull: { sender.pointee.send(&$0) })))
    place = Mutex(Place(core: core, sender: sender))
  }

  // MARK: - On the worker's own thread

  func open(niceness: Int) {
    place.withLock { place in
      place.core.niceness = niceness
      place.isOpen = true
    }
  }

  func close() { place.withLock { $0.isOpen = false } }

  /// The own thread is about to wait. Others wake it by the eventfd only from here until its next turn.
  /// - Returns: until when it may; nil: something has come, and it must not.
  func beginWait() -> Instant? {
    place.withLock { place in
      guard mailbox.beginWait() else { return nil }
      place.waitsUntil = place.core.deadline
      return place.core.deadline
    }
  }

  /// A turn of the own thread.
  /// - Parameter receive: has the core take datagrams; returns whether there were many.
  func turn(
    _ receive: (inout WorkerCore, _ send: (inout Outbox) -> Void) -> Bool
  ) -> Turn {
    place.withLock { place in
      place.waitsUntil = nil
      let sender = place.sender
      let begin = clock.now
      if mailbox.endWait() { place.core.takeMessages(now: begin) }
      let isBusy = receive(&place.core) { sender.pointee.send(&$0) }
      let touched = Self.finish(&place, now: clock.now)
      place.core.times.turns.note(clock.now - begin)
      return Turn(touched: touched, isBusy: isBusy, isOpen: place.core.gathering.take())
    }
  }

  private static func finish(_ place: inout Place, now: Instant) -> UInt64 {
    let sender = place.sender
    place.core.poll(now: now)
    place.core.endTurn(now: now) { sender.pointee.send(&$0) }
    place.core.sending = sender.pointee.statistics
    return place.core.takeTouched()
  }

  // MARK: - On another worker's thread

  /// Something has been left for this worker: it is taken now, if its thread waits and the calling one has time; else that thread
  /// is woken.
  func call(_ stations: [WorkerStation], standsIn: Bool) {
    if standsIn, standIn(stations) { return }
    mailbox.poke()
  }

  private func standIn(_ stations: [WorkerStation]) -> Bool {
    place.withLockIfAvailable { place in
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.standsInForTheAwake), place.isOpen {
          place.core.takeMessages(now: clock.now)
          return true
        }
      #endif
      guard place.isOpen, let until = place.waitsUntil else { return false }
      place.core.standIns &+= 1
      var left = Self.rounds
      var isDone = false
      while left > 0, !isDone {
        left -= 1
        // As the own thread does after its wait: what comes from here on is found by `beginWait`.
        _ = mailbox.endWait()
        let now = clock.now
        place.core.takeMessages(now: now)
        for worker in SetBits(Self.finish(&place, now: now)) { stations[worker].mailbox.poke() }
        isDone = mailbox.beginWait()
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.deadlineOverslept) { return true }
      #endif
      if !isDone || place.core.deadline < until {
        // Once is enough.
        place.waitsUntil = nil
        wakeup.signal()
      }
      return true
    } ?? false
  }
}
