internal import Media
internal import Model
internal import Recording

/// The packets of a track that a server shows in one of this client's slots, whichever that is by now.
final class SlotSupply: TrackSupply {
  /// Asks the track's source for a key frame.
  var onKeyFrameWanted: () -> Void = {}
  private let kind: MediaKind
  private var filter = ReplayFilter()
  private var held: [(bytes: [UInt8], info: PacketInfo, clock: ClockMapping?)] = []
  private var waiting: [(bytes: [UInt8], info: PacketInfo, clock: ClockMapping?)] = []

  init(_ kind: MediaKind) { self.kind = kind }

  func add(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, clock: ClockMapping?) {
    held.append((Array(packet), info, clock))
    switch kind == .audio ? .taken : filter.judge(info) {
    case .held: break
    case .dropped: held.removeAll()
    case .taken: release()
    }
  }

  private func release() {
    waiting += held
    held.removeAll(keepingCapacity: true)
  }

  func listen(now: Instant) { if filter.gaveUp(now: now) { release() } }

  func take(_ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void) {
    for packet in waiting { packet.bytes.withUnsafeBytes { body($0, packet.info, packet.clock) } }
    waiting.removeAll(keepingCapacity: true)
  }

  func requestKeyFrame(encoding: Int) { onKeyFrameWanted() }

  func stop() {
    onKeyFrameWanted = {}
    release()
  }
}
