import Engine
import Model
import Simulation
import SyntheticPeers
import Testing

/// H.264 in three encodings, through the server's workers: from one peer's offer and its packets to the pictures that others get.
/// Key frames come as an aggregate of parameter sets, with the picture in it or in fragments behind it; nothing but that says where one can
/// begin, and no packet has a picture id.
@Suite("H.264 in several encodings", .timeLimit(.minutes(2)))
struct H264SimulcastTests {
  private static let publisher = SocketAddress(ipv4: 192, 0, 2, 10, port: 40_000)

  /// The smallest has key frames of one packet. Of four pictures two are referred to by none.
  private static let video: LayeredVideo = {
    var video = LayeredVideo(
      encodings: [
        LayeredVideo.Encoding(rid: "f", width: 1_280, height: 720, rate: 500_000),
        LayeredVideo.Encoding(rid: "h", width: 640, height: 360, rate: 200_000),
        LayeredVideo.Encoding(rid: "q", width: 320, height: 180, rate: 50_000),
      ], structure: LayerStructure(codec: .h264, temporalLayers: 3))
    video.interval = 50_000_000
    return video
  }()

  private final class Stage {
    let room: SimulationRoom
    private(set) var viewers: [SyntheticPeer] = []
    /// The publisher's cable loses each twentieth packet.
    var isLossy = false
    /// The publisher hears nothing of what is asked of it.
    var isDeaf = false
    private var sent = 0

    init(viewers count: Int, workers: Int) throws {
      room = try SimulationRoom(workers: workers)
      try room.join(at: H264SimulcastTests.publisher, publishes: true) {
        $0.layers = H264SimulcastTests.video
      }
      room.passes = { [unowned self] datagram in
        guard datagram.isMedia else { return true }
        if !datagram.toServer { return !isDeaf || datagram.path.local != H264SimulcastTests.publisher }
        guard isLossy, datagram.path.remote == H264SimulcastTests.publisher else { return true }
        sent += 1
        return sent % 20 != 0
      }
      for number in 0..<count {
        let address = room.address(onWorker: number % workers, host: UInt8(20 + number))
        viewers.append(
          try room.join(at: address, home: number % workers, publishes: false) {
            $0.audioReceivers = 0
            $0.videoReceivers = 1
          })
      }
    }

    func want(_ quality: PicturePreference.Quality, frameRate: UInt8 = 0, _ viewer: Int) {
      var picture = PicturePreference()
      picture.quality = quality
      picture.frameRate = frameRate
      room.server.bridge.post(.prefer(room.keys[viewer + 1], slot: 0, picture))
    }

    /// The frames whose packets a viewer got while a span passes.
    func shown(_ viewer: Int, for span: Duration) -> [LayerFrame] {
      let since = room.now
      room.run(for: span)
      var frames: [LayerFrame] = []
      var last: Int?
      for entry in viewers[viewer].streams.flatMap(\.entries)
      where entry.publisher >= 0 && entry.sentAt > since {
        guard let track = room.journal.layered[entry.trackName] else { continue }
        let number = track.packets[Int(entry.packet)].frame
        if number != last { frames.append(track.frames[number]) }
        last = number
      }
      return frames
    }

    /// What a viewer's decoder would say of its whole stream, and how often it went on to another encoding.
    func audit(_ viewer: Int) -> (problems: [String], joints: Int) {
      var audit = StreamAudit()
      for stream in viewers[viewer].streams where stream.highest != .min {
        for number in stream.first...stream.highest {
          audit.take(stream[number], room.journal)
        }
      }
      return (audit.problems, audit.joints)
    }
  }

  /// A stream in the order of its numbers, by what its publisher knows of each packet.
  private struct StreamAudit {
    private(set) var problems: [String] = []
    private(set) var joints = 0
    private var last: (entry: ReceivedStream.Entry, frame: LayerFrame, number: Int, place: Int)?
    /// Frames that are there as a whole since the last key frame.
    private var whole: Set<Int> = []
    /// Packets before the first key frame: who comes may have its keys a moment after the server's first packets.
    private var early = 0

    mutating func take(_ entry: ReceivedStream.Entry?, _ journal: Journal) {
      guard let entry, let track = journal.layered[entry.trackName] else {
        return problems.append("a number without a packet")
      }
      if entry.codec != .h264 { problems.append("a packet of \(entry.codec)") }
      let packet = track.packets[Int(entry.packet)]
      let frame = track.frames[packet.frame]
      if last == nil, packet.place > 0 || !frame.isKey {
        early += 1
        if early == 20 { problems.append("it doesn't begin with a key frame") }
        return
      }
      if packet.place == 0 { begin(frame, packet.frame) }
      let isLast = packet.place + 1 == frame.packets
      if entry.isMarked != isLast { problems.append("a marker in the wrong place") }
      if let last { follow(entry, frame, packet, last) }
      if isLast { whole.insert(packet.frame) }
      last = (entry, frame, packet.frame, packet.place)
    }

    private mutating func begin(_ frame: LayerFrame, _ number: Int) {
      if frame.isKey { whole = [] }
      if frame.references.contains(where: { !whole.contains($0) }) {
        problems.append("frame \(number) refers to one that isn't there")
      }
    }

    private mutating func follow(
      _ entry: ReceivedStream.Entry, _ frame: LayerFrame, _ packet: LayeredTrack.Packet,
      _ last: (entry: ReceivedStream.Entry, frame: LayerFrame, number: Int, place: Int)
    ) {
      let time = Int32(bitPattern: entry.timestamp &- last.entry.timestamp)
      if packet.frame == last.number {
        if packet.place != last.place + 1 || time != 0 { problems.append("a frame that is torn") }
        return
      }
      let isCut = last.place + 1 != last.frame.packets && !frame.isKey
      if packet.place != 0 || isCut { problems.append("a frame that is cut") }
      // A picture is due every 50 ms, and nothing is lost on the way to the viewer.
      if time <= 0 || time > 90_000 { problems.append("the timestamp steps by \(time)") }
      guard frame.encoding != last.frame.encoding else { return }
      joints += 1
      if !frame.isKey { problems.append("encoding \(frame.encoding) begins without its key frame") }
    }
  }

  @Test(arguments: [1, 2])
  func `each of three viewers is shown its own encoding, also where packets of the publisher's are lost`(
    workers: Int
  ) throws {
    let stage = try Stage(viewers: 3, workers: workers)
    stage.isLossy = true
    for (viewer, quality) in [PicturePreference.Quality.high, .medium, .low].enumerated() {
      stage.want(quality, viewer)
    }
    stage.room.run(for: .seconds(6))
    for viewer in 0..<3 {
      let frames = stage.shown(viewer, for: .seconds(2))
      #expect(Set(frames.map(\.encoding)) == [viewer] && frames.count > 30, "viewer \(viewer)")
    }
    let counts = stage.room.journal.mechanisms
    #expect(counts[.serverNACK] > 10 && counts[.serverRTX] > 10)
    #expect(stage.room.journal.violations == [])
  }

  @Test func `from one encoding to another a stream goes at key frames alone, whole and without a gap`()
    throws
  {
    let stage = try Stage(viewers: 1, workers: 1)
    let steps: [(PicturePreference.Quality, Int)] = [
      (.low, 2), (.high, 0), (.medium, 1), (.high, 0), (.low, 2), (.medium, 1),
    ]
    for (quality, encoding) in steps {
      stage.want(quality, 0)
      stage.room.run(for: .seconds(3))
      #expect(Set(stage.shown(0, for: .seconds(1)).map(\.encoding)) == [encoding], "\(quality)")
    }
    let (problems, joints) = stage.audit(0)
    #expect(problems == [] && joints >= 5)
    #expect(stage.viewers[0].numbersMissing == [0])
    #expect(stage.room.journal.violations == [])
  }

  @Test func `without a key frame of the better encoding the viewer stays with the one that it has`() throws {
    let stage = try Stage(viewers: 1, workers: 1)
    stage.want(.low, 0)
    stage.room.run(for: .seconds(4))
    stage.isDeaf = true
    stage.want(.high, 0)
    let meanwhile = stage.shown(0, for: .seconds(3))
    #expect(Set(meanwhile.map(\.encoding)) == [2] && meanwhile.count > 50, "pictures go on")
    stage.isDeaf = false
    stage.room.run(for: .seconds(3))
    #expect(Set(stage.shown(0, for: .seconds(1)).map(\.encoding)) == [0])
    let (problems, joints) = stage.audit(0)
    #expect(problems == [] && joints >= 1)
    #expect(stage.room.journal.violations == [])
  }

  @Test func `a viewer that shows half as many pictures gets those that others refer to, and all again`()
    throws
  {
    let stage = try Stage(viewers: 1, workers: 1)
    for (rate, layers, count) in [(0, [0, 1, 2], 38...42), (10, [0, 1], 18...22), (0, [0, 1, 2], 38...42)]
      as [(UInt8, Set<Int>, ClosedRange<Int>)]
    {
      stage.want(.high, frameRate: rate, 0)
      stage.room.run(for: .seconds(4))
      let frames = stage.shown(0, for: .seconds(2))
      #expect(Set(frames.map(\.temporal)) == layers, "\(rate)")
      #expect(count.contains(frames.count), "\(rate): \(frames.count)")
    }
    #expect(stage.audit(0).problems == [] && stage.viewers[0].numbersMissing == [0])
    #expect(stage.room.journal.violations == [])
  }
}
