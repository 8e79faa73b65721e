import AccessTokens
import Engine
import Foundation
import HTTPServer
import Model
import SyntheticPeers
import Testing

@testable import Gateway

@Suite("REST: thumbnails", .timeLimit(.minutes(2)))
struct ThumbnailRESTTests {
  private static func path(_ track: String) -> String {
    "/v1/rooms/demo/participants/eve/tracks/\(track)/thumbnail"
  }

  private func run(_ peers: [LivePeer], of house: House, for span: Duration) async {
    let end = ContinuousClock.now + span
    while ContinuousClock.now < end {
      for peer in peers { peer.turn(server: house.engine.port) }
      try? await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Asks while packets go on coming.
  private func ask(_ path: String, _ peers: [LivePeer], of house: House) async -> HTTPResponse {
    async let answer = house.respond(.get, path)
    await run(peers, of: house, for: .milliseconds(1_500))
    return await answer
  }

  private func problem(_ response: HTTPResponse) -> String? {
    House.Answer(
      status: response.status, headers: response.headers,
      text: String(decoding: response.body, as: UTF8.self)
    ).problem
  }

  @Test func `the last key frame comes with its codec and size, and its room hears of it`() async throws {
    let house = try House()
    let eve = try LivePeer(house, try await house.enter("eve"), number: 0) { $0.publishesVideo = true }
    let track = try #require(try await eve.offer().first)
    let bob = try await house.enter("bob")
    #expect(problem(await house.respond(.get, Self.path(track))) == "no-thumbnail", "nothing has come yet")
    await run([eve], of: house, for: .seconds(2))

    let found = await ask(Self.path(track), [eve], of: house)
    try #require(found.status == 200, "\(String(decoding: found.body, as: UTF8.self))")
    #expect(found.headers["content-type"] == "application/octet-stream" && found.body.count > 10)
    #expect(found.headers["roost-codec"] == "vp8" && found.headers["cache-control"] == "no-store")
    #expect(found.headers["roost-width"] == "640" && found.headers["roost-height"] == "480")
    #expect(found.headers["roost-time"]?.hasSuffix("Z") == true)
    // The first bits of a frame of VP8: a key frame is one where the lowest is 0 (RFC 6386 §9.1).
    #expect(found.body[0] & 1 == 0 && found.body[3...5].elementsEqual([0x9D, 0x01, 0x2A]))
    let heard = try await bob.event("thumbnail.taken")
    #expect((heard["track"] as? NSDictionary)?["id"] as? String == track)
    #expect((heard["participant"] as? NSDictionary)?["identity"] as? String == "eve")

    let again = await house.respond(.get, Self.path(track))
    #expect(again.status == 429 && problem(again) == "rate-limited" && again.headers["retry-after"] == "1")
    await run([eve], of: house, for: .milliseconds(2_100))
    #expect(await ask(Self.path(track), [eve], of: house).status == 200, "of what is kept by now")

    let mute = "/v1/rooms/demo/participants/eve/tracks/\(track)/mute"
    #expect(await house.ask(.post, mute, #"{"muted":true}"#).status == 200)
    let muted = await house.respond(.get, Self.path(track))
    #expect(muted.status == 409 && problem(muted) == "no-thumbnail")
  }

  @Test func `a page of another origin may read what it is`() async throws {
    let house = try House()
    let answer = await house.ask(
      .get, Self.path("TR_none"), token: nil, headers: [("origin", "https://desk.example")])
    let exposed = answer.headers.list("access-control-expose-headers")
    for name in ["roost-codec", "roost-width", "roost-height", "roost-time"] {
      #expect(exposed.contains(name))
    }
  }
}

@Suite("A key frame as a browser's decoder takes it", .timeLimit(.minutes(1)))
struct ThumbnailPictureTests {
  private func picture(_ codec: Codec, _ bytes: [UInt8]) -> ThumbnailPicture? {
    ThumbnailPicture(KeyFrame(format: CodecFormat(codec), bytes: bytes, arrival: Instant(nanoseconds: 0)))
  }

  @Test func `VP8 and VP9 are as they came, by a name that says profile and depth`() {
    #expect(picture(.vp8, [0x10, 2, 3]).map { "\($0.codec) \($0.bytes)" } == "vp8 [16, 2, 3]")
    // Marker 2, profile 0; profile 1 has its low bit first, profile 2 the other.
    #expect(picture(.vp9, [0x82, 1])?.codec == "vp09.00.41.08")
    #expect(picture(.vp9, [0xA2, 1])?.codec == "vp09.01.41.08")
    #expect(picture(.vp9, [0x92, 1])?.codec == "vp09.02.41.10")
    #expect(picture(.vp9, [0x42, 1]) == nil && picture(.vp9, []) == nil)
  }

  @Test func `units of H264 stand behind start codes, and the first parameter set names the codec`() {
    let sets: [UInt8] = [0, 0, 0, 4, 0x67, 0x42, 0xE0, 0x1F, 0, 0, 0, 2, 0x68, 0xCE]
    let found = picture(.h264, sets + [0, 0, 0, 3, 0x65, 0x88, 0x84])
    #expect(found?.codec == "avc1.42e01f")
    #expect(
      found?.bytes == [
        0, 0, 0, 1, 0x67, 0x42, 0xE0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0, 0, 0, 1, 0x65, 0x88, 0x84,
      ])
    #expect(picture(.h264, [0, 0, 0, 3, 0x65, 0x88, 0x84]) == nil, "no decoder could begin with it")
    for cut in 1..<sets.count where cut != 8 {
      #expect(picture(.h264, Array(sets.prefix(cut))) == nil, "\(cut)")
    }
    #expect(
      picture(.h264, [0, 0, 0, 0, 0x67]) == nil && picture(.h264, [0xFF, 0xFF, 0xFF, 0xFF, 0x67]) == nil)
  }

  @Test(arguments: [Codec.h265, .av1, .opus])
  func `there are none of other codecs`(codec: Codec) {
    #expect(picture(codec, [1, 2, 3, 4, 5]) == nil)
  }
}
