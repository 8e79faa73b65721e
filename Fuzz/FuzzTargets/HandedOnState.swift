import Crypto
import Engine
import Model
import Peer
import Rooms
import Transport

/// A worker's state from elsewhere: refused, or a worker whose own state is read and written alike.
@Sendable func fuzzWorkerState(_ input: UnsafeRawBufferPointer) {
  guard let state = HandedOn.worker(Array(input)) else { return }
  guard let again = HandedOn.worker(state) else { return check(false, "a worker's own state is read") }
  check(again.count == state.count, "and has all that it had")
}

/// A room's state from elsewhere: refused, or a room whose own state is read and written alike.
@Sendable func fuzzRoomState(_ input: UnsafeRawBufferPointer) {
  let now = Instant(nanoseconds: 2_200_000_000)
  guard let state = try? RoomState.rewritten(Array(input), now: now) else { return }
  guard let again = try? RoomState.rewritten(state, now: now) else {
    return check(false, "a room's own state is read")
  }
  check(again == state, "and written alike")
}

/// An event of a room, or an invitation, from a journal's row: refused, or one that is written as it was read.
@Sendable func fuzzRecord(_ input: UnsafeRawBufferPointer) {
  if let row = try? Invitation.rewritten(Array(input)) {
    guard let again = try? Invitation.rewritten(row) else {
      return check(false, "a row of one's own is read")
    }
    check(again == row, "and written alike")
  }
  guard let row = try? RoomEvent.rewritten(Array(input)) else { return }
  guard let again = try? RoomEvent.rewritten(row) else { return check(false, "a row of one's own is read") }
  check(again == row, "and written alike")
}

private enum HandedOn {
  private static let dtls: DTLSContext? = {
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000) else { return nil }
    return try? DTLSContext(certificate: certificate)
  }()

  /// What a worker that goes on from the state writes.
  static func worker(_ state: [UInt8]) -> [UInt8]? {
    guard let dtls else { return nil }
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    let core = try? WorkerCore.decode(
      state, index: 0, bridge: bridge, limits: WorkerCore.Limits(peers: 4),
      context: PeerContext(
        epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000)), dtls: dtls,
        random: .seeded(state: 1), outbox: Outbox(datagrams: 64) { $0.removeAll() }),
      now: Instant(nanoseconds: 3_100_000_000))
    return core?.encode()
  }
}
