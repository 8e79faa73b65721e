import Model
import Simulation
import SyntheticPeers
import Testing

@testable import Engine

@Suite("Sound that is encrypted end to end, through workers", .timeLimit(.minutes(2)))
struct EncryptedSoundTests {
  /// The codecs of what comes to a viewer.
  private func codecs(_ viewer: SyntheticPeer) -> Set<Codec> {
    Set(viewer.streams.flatMap { $0.entries.filter { $0.publisher >= 0 }.map(\.codec) })
  }

  @Test(arguments: [Codec.opus, .red], [false, true])
  func `no RED is added to it and none taken out, whatever is lost on the way`(
    codec: Codec, isEncrypted: Bool
  ) throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 0, host: 1), home: 0, publishes: true) {
      $0.publishesVideo = false
      $0.audioCodec = codec
    }
    if isEncrypted {
      room.server.bridge.post(.describe(TrackKey(peer: room.keys[0], index: 0), .encrypted))
    }
    var viewers: [SyntheticPeer] = []
    let lossy = room.address(onWorker: 1, host: 2)
    for (number, address) in [lossy, room.address(onWorker: 1, host: 3)].enumerated() {
      viewers.append(
        try room.join(at: address, home: 1, publishes: false) {
          $0.audioReceivers = 1
          $0.videoReceivers = 0
          if number == 1 { $0.dialect.lacks = [.red] }
        })
    }
    var count = 0
    room.passes = { datagram in
      guard !datagram.toServer, datagram.isMedia, datagram.path.local == lossy else { return true }
      count += 1
      return count % 4 != 0
    }
    room.run(for: .seconds(12))
    // What is added shows that enough was lost for it.
    #expect(codecs(viewers[0]) == (codec == .opus && !isEncrypted ? [.opus, .red] : [codec]))
    #expect(codecs(viewers[1]) == (codec == .red && isEncrypted ? [] : [.opus]))
    #expect(room.journal.violations == [])
  }
}
