import Model
import Testing
import Transport

@Suite("Datagrams on their way out", .timeLimit(.minutes(2)))
struct OutboxTests {
  /// An outbox with what it handed over when it was full.
  final class Out {
    final class Flushed { var all: [[UInt8]] = [] }
    private let taken = Flushed()
    var outbox: Outbox

    init(datagrams: Int) {
      outbox = Outbox(datagrams: datagrams) { [taken] box in
        for index in 0..<box.count { taken.all.append(Array(box.bytes(box[index]))) }
        box.removeAll()
      }
    }
    var flushed: [[UInt8]] { taken.all }
    func append(_ bytes: [UInt8], to port: Int = 1) -> Bool {
      bytes.withUnsafeBytes { outbox.append($0, path: Out.path(port)) }
    }
    var waiting: [[UInt8]] {
      (0..<outbox.count).map { Array(outbox.bytes(outbox[$0])) }
    }
    var isEmpty: Bool { outbox.isEmpty }
    var ports: [UInt16] { (0..<outbox.count).map { outbox[$0].path.remote.port } }
    static func path(_ port: Int) -> NetworkPath {
      NetworkPath(
        remote: SocketAddress(ipv4: 192, 0, 2, 1, port: UInt16(port)),
        local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
    }
  }

  @Test func `datagrams keep their order, bytes and paths`() {
    let out = Out(datagrams: 8)
    #expect(out.isEmpty)
    for size in [1, 7, 8, 9, 1_600] {
      #expect(out.append(Array(repeating: UInt8(size % 251), count: size), to: size))
    }
    #expect(out.waiting.map(\.count) == [1, 7, 8, 9, 1_600])
    #expect(out.ports == [1, 7, 8, 9, 1_600])
    #expect(out.waiting.allSatisfy { datagram in datagram.allSatisfy { $0 == UInt8(datagram.count % 251) } })
    out.outbox.removeAll()
    #expect(out.isEmpty)
  }

  @Test func `when it is full it is emptied in between, and nothing is lost or turned round`() {
    for capacity in [1, 2, 7, 64] {
      let out = Out(datagrams: capacity)
      var random = RandomSource.seeded(state: UInt64(capacity))
      var expected: [[UInt8]] = []
      for number in 0..<500 {
        let bytes = [UInt8](repeating: UInt8(number % 256), count: 1 + Int(random.next() % 1_600))
        expected.append(bytes)
        #expect(out.append(bytes))
        #expect(out.waiting.count <= capacity)
      }
      #expect(out.flushed + out.waiting == expected)
    }
  }

  @Test func `more than a slot is refused`() {
    let out = Out(datagrams: 2)
    #expect(!out.append(Array(repeating: 0, count: 1_601)))
    #expect(out.isEmpty)
  }

  @Test func `room that was reserved and not used is given out again`() {
    let out = Out(datagrams: 2)
    let first = out.outbox.reserve()
    let second = out.outbox.reserve()
    #expect(first.baseAddress == second.baseAddress && first.count == Outbox.slotSize)
    second[0] = 9
    out.outbox.commit(size: 1, path: Out.path(1))
    let third = out.outbox.reserve()
    #expect(third.baseAddress != second.baseAddress)
    #expect(out.waiting == [[9]])
  }
}
