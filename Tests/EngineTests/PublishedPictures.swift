import Congestion
import Media
import Model
import Testing
import Wire

@testable import Engine
@testable import Peer

/// A publisher at one worker, whose packets are taken in as they come out of its transport, and what the worker makes of them: what
/// there is to choose from of its tracks. Each stream is announced by its SSRC.
final class PublishedPictures {
  /// Ids of header extensions.
  static let (allocationID, descriptorID) = (UInt8(5), UInt8(6))

  private let workers: WorkerCoreTests.Workers
  private let key: PeerKey
  private let publisher: Int
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  /// By SSRC: the packet, and the frame, that came last.
  private var sequences: [UInt32: UInt16] = [:]
  private var frames: [UInt32: UInt16] = [:]

  /// - Parameter tracks: what each comes in, and in how many encodings.
  init(_ tracks: [(codec: Codec, encodings: Int)]) throws {
    let workers = try WorkerCoreTests.Workers(1)
    var extensions = HeaderExtensionMap()
    extensions[.videoLayersAllocation] = PublishedPictures.allocationID
    extensions[.dependencyDescriptor] = PublishedPictures.descriptorID
    let sections = tracks.indices.map { index in
      ReceiveSection(
        index: UInt16(index), mid: "\(index)", kind: .video,
        codecs: [NegotiatedCodec(codec: tracks[index].codec, payloadType: 96, pli: true)],
        extensions: extensions,
        encodings: (0..<tracks[index].encodings).map {
          ReceiveEncoding(ssrc: PublishedPictures.ssrc(index, $0))
        })
    }
    let key = workers.add(AgreedMedia(receive: sections))
    let place = workers.cores.pointee.peers.find(key)
    publisher = try #require(place)
    self.key = key
    self.workers = workers
  }

  private static func ssrc(_ track: Int, _ encoding: Int) -> UInt32 { UInt32(1_000 * (track + 1) + encoding) }

  /// Of VP8, between two key frames.
  static let vp8: [UInt8] = [0x10, 0x01] + Array(repeating: 0, count: 998)

  /// A packet comes.
  /// - Parameter elements: its header extensions, by id.
  /// - Returns: what is known of it; nil: it went no further.
  @discardableResult
  func send(
    track: Int = 0, encoding: Int = 0, _ elements: [(id: UInt8, bytes: [UInt8])] = [],
    payload: [UInt8] = PublishedPictures.vp8
  ) -> PacketInfo? {
    let ssrc = Self.ssrc(track, encoding)
    let sequence = (sequences[ssrc] ?? 100) &+ 1
    sequences[ssrc] = sequence
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 8)
    defer { buffer.deallocate() }
    guard
      var writer = RTPWriter(
        into: buffer, marker: true, payloadType: 96, sequence: sequence,
        timestamp: UInt32(truncatingIfNeeded: now.nanoseconds / 11_111), ssrc: ssrc, form: .twoByte)
    else { return nil }
    for element in elements { writer.append(id: element.id, element.bytes, size: element.bytes.count) }
    let header = writer.finish()
    buffer.baseAddress?.advanced(by: header).copyMemory(from: payload, byteCount: payload.count)
    return take(UnsafeMutableRawBufferPointer(rebasing: buffer[..<(header + payload.count)]))
  }

  private func take(_ packet: UnsafeMutableRawBufferPointer) -> PacketInfo? {
    let core = workers.cores
    let peer = core.pointee.peers.pointer(publisher)
    let outcome = peer.pointee.session.receive(
      rtp: packet, arrival: now, context: &core.pointee.context.media)
    _ = core.pointee.context.takeEffects()
    guard case .media(let feed, let offset, let size, let info) = outcome, feed >= 0 else { return nil }
    core.pointee.deliver(
      UnsafeRawBufferPointer(rebasing: packet[offset..<offset + size]), info, feed: feed, now: now)
    return info
  }

  /// The worker looks at what has come.
  func look() {
    now = now + .milliseconds(100)
    workers.now = now
    workers.cores.pointee.sampleEncodings(now: now)
  }

  /// What there is to choose from of a track: what the allocator is given of it, from the cheapest to the best.
  func options(_ track: Int = 0) -> [LayerOption] {
    workers.cores.pointee.feeds.groups.options(of: TrackKey(peer: key, index: UInt16(track)))
  }

  /// A picture comes of which the descriptors alone can be read, in layers of size.
  /// - Parameter structure: it is a key frame, and says these sizes, or of no layer any; nil: it is none.
  func picture(encoding: Int = 0, layers: Int, structure: [PictureSize]? = nil) {
    let ssrc = Self.ssrc(0, encoding)
    for layer in 0..<layers {
      let number = (frames[ssrc] ?? 0) &+ 1
      frames[ssrc] = number
      let element =
        layer == 0 && structure != nil
        ? Self.structure(number, layers: layers, sizes: structure ?? []) : Self.frame(number, layer: layer)
      send(encoding: encoding, [(Self.descriptorID, element)], payload: Self.unreadable)
    }
  }

  /// It says that it goes on with a frame and begins with one.
  static let unreadable = [UInt8](repeating: 0xFF, count: 800)
}

// MARK: - What header extensions say

extension PublishedPictures {
  /// A layer of size: kilobits per second up to each of its layers of frame rate, and its picture.
  struct Layer {
    var rates: [Int]
    var width = 320
    var height = 180
  }

  /// The data of `video-layers-allocation00`.
  /// - Parameters:
  ///   - number: of the stream in which it says to be.
  ///   - streams: from one to four; each has its layers of size, the lowest first.
  static func allocation(number: Int = 0, _ streams: [[Layer]]) -> [UInt8] {
    let masks = streams.map { UInt8(1 << $0.count - 1) }
    let isCommon = masks[0] != 0 && masks.allSatisfy { $0 == masks[0] }
    var bytes = [UInt8(number << 6 | (streams.count - 1) << 4) | (isCommon ? masks[0] : 0)]
    for pair in stride(from: 0, to: isCommon ? 0 : masks.count, by: 2) {
      bytes.append(masks[pair] << 4 | (pair + 1 < masks.count ? masks[pair + 1] : 0))
    }
    let layers = streams.flatMap(\.self)
    for four in stride(from: 0, to: layers.count, by: 4) {
      var byte: UInt8 = 0
      for index in four..<four + 4 {
        byte = byte << 2 | (index < layers.count ? UInt8(layers[index].rates.count - 1) : 0)
      }
      bytes.append(byte)
    }
    for rate in layers.flatMap(\.rates) {
      var rest = rate
      while rest > 127 {
        bytes.append(UInt8(rest & 127) | 128)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    for layer in layers {
      let (width, height) = (UInt16(layer.width - 1), UInt16(layer.height - 1))
      bytes += [UInt8(width >> 8), UInt8(width & 255), UInt8(height >> 8), UInt8(height & 255), 30]
    }
    return bytes
  }

  /// The dependency descriptor of a whole frame that has the template of its layer.
  static func frame(_ number: UInt16, layer: Int) -> [UInt8] {
    [0xC0 | UInt8(layer), UInt8(number >> 8), UInt8(number & 255)]
  }

  /// The descriptor of a key frame's lowest layer: a template and a decode target for each layer of size, each referring to the one below
  /// it, no chains, and the sizes if there are any (AV1 RTP specification, A.8).
  static func structure(_ number: UInt16, layers: Int, sizes: [PictureSize]) -> [UInt8] {
    var bits: [UInt8] = []
    func put(_ value: Int, _ count: Int) {
      for place in (0..<count).reversed() { bits.append(UInt8(value >> place & 1)) }
    }
    for (value, count) in [(0b11, 2), (0, 6), (Int(number), 16), (0b10000, 5)] { put(value, count) }
    for (value, count) in [(0, 6), (layers - 1, 5)] { put(value, count) }
    for layer in 1...layers { put(layer < layers ? 2 : 3, 2) }
    for layer in 0..<layers { for target in 0..<layers { put(target < layer ? 0 : 2, 2) } }
    for layer in 0..<layers { put(layer == 0 ? 0 : 0b100000, layer == 0 ? 1 : 6) }
    put(0, layers < 3 ? 1 : 2)
    put(sizes.isEmpty ? 0 : 1, 1)
    for size in sizes {
      put(Int(size.width) - 1, 16)
      put(Int(size.height) - 1, 16)
    }
    bits += Array(repeating: 0, count: -bits.count & 7)
    return stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }
}
