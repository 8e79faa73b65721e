import Testing
import Wire

@Suite("Capture files", .timeLimit(.minutes(1)))
struct PcapngWriterTests {
  @Test func `a packet's block is as the draft draws it`() {
    var writer = PcapngWriter(application: "R", comment: "")
    let head = writer.bytes
    // Section header: type, length, magic, version 1.0, unknown length, shb_userappl, end of options, length.
    #expect(
      head == [
        0x0A, 0x0D, 0x0D, 0x0A, 40, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255,
        255, 255, 4, 0, 1, 0, 0x52, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,
      ])
    writer.addInterface(.raw, name: "m")
    #expect(
      Array(writer.bytes.dropFirst(head.count)) == [
        1, 0, 0, 0, 40, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0x6D, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0,
        0, 0,
        0, 0, 40, 0, 0, 0,
      ])
    let before = writer.bytes.count
    writer.add(
      interface: 0, nanoseconds: 0x0000_0001_0000_0002, [7, 8, 9], size: 1_000, direction: .outbound)
    #expect(
      Array(writer.bytes.dropFirst(before)) == [
        6, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xE8, 3, 0, 0, 7, 8, 9, 0, 2,
        0, 4,
        0, 2, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0,
      ])
  }

  @Test func `a packet never says that it was shorter than what is kept of it`() {
    var writer = PcapngWriter(application: "R", comment: "")
    let before = writer.bytes.count
    writer.add(interface: 0, nanoseconds: 1, [1, 2, 3, 4], size: 0)
    // Without options there is no end of them either.
    #expect(Array(writer.bytes.dropFirst(before + 20)) == [4, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4, 36, 0, 0, 0])
  }
}
