import Model
import Testing

@Suite("Header extension ids", .timeLimit(.minutes(2)))
struct HeaderExtensionTests {
  @Test func `each kind is found by its URI, and no other URI finds one`() {
    for kind in HeaderExtension.allCases { #expect(HeaderExtension(uri: kind.uri) == kind) }
    #expect(Set(HeaderExtension.allCases.map(\.uri)).count == HeaderExtension.allCases.count)
    #expect(HeaderExtension(uri: "urn:3gpp:video-orientation") == nil)
    #expect(HeaderExtension(uri: HeaderExtension.mid.uri.uppercased()) == nil)
    #expect(HeaderExtension(uri: "") == nil)
  }

  @Test func `an id leads to its kind, 0 to none`() {
    var map = HeaderExtensionMap()
    #expect(map.kind(of: 0) == nil)
    #expect(map.kind(of: 4) == nil)
    map[.repairedRid] = 4
    map[.mid] = 255
    #expect(map.kind(of: 4) == .repairedRid)
    #expect(map.kind(of: 255) == .mid)
    map[.repairedRid] = 0
    #expect(map.kind(of: 4) == nil)
    #expect(map != HeaderExtensionMap())
    map[.mid] = 0
    #expect(map == HeaderExtensionMap())
  }
}
